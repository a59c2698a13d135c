"""What commands open: to look, to change something, or to work on sessions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.config import load_settings
from crawler.stores import open_stores

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.config import Settings
    from crawler.db.engine import Transaction
    from crawler.stores import Stores


@contextmanager
def reading(settings: Settings | None = None) -> Generator[Transaction]:
    """A look into the database; nothing is changed."""
    with open_stores(settings or load_settings()) as stores, stores.database.read() as db:
        yield db


@contextmanager
def writing() -> Generator[Transaction]:
    """A change of the database: all of it, or none."""
    with open_stores(load_settings()) as stores, stores.database.write() as db:
        yield db


@contextmanager
def sessions_at_work(settings: Settings | None = None) -> Generator[Stores]:
    """The stores, after the sessions whose process died were ended."""
    with open_stores(settings or load_settings()) as stores:
        stores.sessions.abandon_stale()
        yield stores
