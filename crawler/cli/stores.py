"""The stores that commands look into."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from crawler.config import load_settings
from crawler.stores import open_stores

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.config import Settings
    from crawler.sessions.store import SessionStore


@contextmanager
def open_book(settings: Settings | None = None) -> Generator[SessionStore]:
    """The sessions, after those whose process died were marked."""
    with open_stores(settings or load_settings()) as stores:
        stores.sessions.abandon_stale()
        yield stores.sessions
