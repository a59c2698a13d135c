"""What runs against real servers."""
