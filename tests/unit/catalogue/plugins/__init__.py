"""Plugins: what they see, what they may say, and what becomes of those that fail."""
