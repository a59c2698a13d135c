"""The units of the evidence package."""
