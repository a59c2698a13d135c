"""The catalogue and its retention, on both databases."""
