"""Settings, read and refused."""
