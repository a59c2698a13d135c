"""Tests of the database's frame, on SQLite and on PostgreSQL."""
