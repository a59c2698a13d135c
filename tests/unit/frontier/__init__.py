"""Units of crawler/frontier."""
