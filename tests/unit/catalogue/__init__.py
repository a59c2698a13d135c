"""The catalogue's rules."""
