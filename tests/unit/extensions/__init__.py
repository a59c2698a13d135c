"""What middlewares decide."""
