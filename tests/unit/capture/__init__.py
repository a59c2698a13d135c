"""The units of the capture package."""
