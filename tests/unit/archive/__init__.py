"""Tests of crawler.archive."""
