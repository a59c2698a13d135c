"""Unit tests of the pipelines."""
