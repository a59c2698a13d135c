"""The stores of durable runs, on SQLite and PostgreSQL."""
