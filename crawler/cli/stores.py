"""What commands open: to look, to change something, or to work on sessions."""

from __future__ import annotations

from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING

from crawler.config import load_settings
from crawler.db.reserve import room_to_delete
from crawler.stores import open_stores

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.config import Settings
    from crawler.db.engine import Transaction
    from crawler.stores import Stores


@contextmanager
def opened(
    settings: Settings | None = None,
    *,
    for_work: bool = False,
    may_make: bool = False,
    makes_room: bool = False,
) -> Generator[Stores]:
    """Database, artifacts and sessions; for work on sessions, those whose process died are ended first.

    A database that is not there is made by what begins something, and by no other command. What makes room
    works on a full disk, too.
    """
    settings = settings or load_settings()
    with (
        room_to_delete(settings.database) if makes_room else nullcontext(),
        closing(open_stores(settings, may_make=may_make)) as stores,
    ):
        if for_work:
            stores.take_over()
        yield stores


@contextmanager
def reading(settings: Settings | None = None) -> Generator[Transaction]:
    """A look into the database; nothing is changed."""
    with opened(settings) as stores, stores.database.read() as db:
        yield db


@contextmanager
def writing(*, may_make: bool = False) -> Generator[Transaction]:
    """A change of the database: all of it, or none."""
    with opened(may_make=may_make) as stores, stores.database.write() as db:
        yield db
