"""What durable runs keep, on SQLite and PostgreSQL."""
