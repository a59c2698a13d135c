"""Tests of the archive tool."""
