"""The units of the retention package."""
