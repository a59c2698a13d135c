"""Tests of archive jobs."""
