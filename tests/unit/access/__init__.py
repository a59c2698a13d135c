"""Units of crawler/access."""
