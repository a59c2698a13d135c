"""The stores: opened together, closed together, with the same hooks for whoever opens them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select, text

from crawler.config import load_settings
from crawler.db.models import CrawlSession, ScrapeRecord
from crawler.errors import RevisionError
from crawler.sessions.journal import Journal
from crawler.sessions.rows import SessionOrder
from crawler.sessions.visit_writes import StartWrite
from crawler.stores import HOOKS, open_for_crawl, open_stores
from tests.unit.warc.made import appended, exchange

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.config import Settings

ORDER = SessionOrder("https://shop.example/", "shop.example")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Everything in a folder of the test's own."""
    return load_settings({"VITRINE_HOME": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""})


def test_opening_writes_nothing(settings: Settings) -> None:
    """A session whose process is gone stays as it is until somebody says so."""
    with open_stores(settings) as stores:
        [session_id] = stores.sessions.queue([ORDER], {})
        stores.sessions.writes.post_now(
            StartWrite(stores.sessions, ORDER, Journal(str(session_id), ORDER.domain))
        )
        with stores.database.write() as db:
            db.execute(text("UPDATE sessions SET alive_until = '2000-01-01 00:00:00.000000'"))
    with open_stores(settings) as stores, stores.database.read() as db:
        assert db.scalars(select(CrawlSession.status)).one() == "running"


def test_whoever_ends_a_session_has_it_recorded(settings: Settings) -> None:
    """The hooks are those of the crawl, in a command as well."""
    with open_stores(settings) as stores:
        assert tuple(stores.sessions.hooks) == HOOKS
        stores.sessions.queue([ORDER], {})
        stores.sessions.release_queued()
        with stores.database.read() as db:
            assert db.scalars(select(ScrapeRecord)).one().domain == ORDER.domain


def test_another_version_s_tables_are_refused(settings: Settings) -> None:
    """With what to do about it, and no connection left open."""
    with open_stores(settings) as stores, stores.database.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = 'later'"))
    with pytest.raises(RevisionError):
        open_stores(settings)


@pytest.mark.parametrize(("obeys", "said"), [(True, b"robots: obey\r\n"), (False, b"robots: ignore\r\n")])
def test_a_warc_file_says_whether_robots_txt_was_obeyed(
    settings: Settings, *, obeys: bool, said: bytes
) -> None:
    """And not what is the rule."""
    recording = settings.model_copy(update={"page_store": "warc"})
    with open_for_crawl(recording, obeys_robots=obeys) as stores:
        assert stores.shelf is not None
        path = settings.warcs / appended(stores.shelf, exchange()).path
    assert said in gzip.decompress(path.read_bytes())
