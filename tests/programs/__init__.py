"""Servers that the test suite starts for itself."""
