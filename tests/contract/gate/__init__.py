"""The domain gate: Redis, and the database as SQLite and as PostgreSQL."""
