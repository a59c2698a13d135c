"""Tests of the small programs."""
