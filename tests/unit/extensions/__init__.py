"""Unit tests of the extensions."""
