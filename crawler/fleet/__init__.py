"""Workers that are fed through Redis."""
