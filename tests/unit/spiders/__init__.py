"""What spiders decide."""
