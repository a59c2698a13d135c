"""Alembic's scripts; crawler.db.revisions runs them."""
