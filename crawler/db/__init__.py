"""The database: one engine for SQLite and PostgreSQL, typed models, migrations."""
