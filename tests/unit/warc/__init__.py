"""Unit tests, in the shape of the package."""
