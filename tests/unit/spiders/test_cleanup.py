"""The cleanup as a spider: its arguments, and what came of it as the crawl's exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.config import Settings, load_settings
from crawler.errors import UsageError
from crawler.retention.cleanup import CleanupOrder, Part
from crawler.spiders import cleanup as module
from crawler.spiders.cleanup import CleanupSpider, order_of
from tests.unit.retention.contents import contents_of
from tests.unit.views.rows import THEN, a_session

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database


@pytest.fixture
def settings() -> Settings:
    """Settings with a batch size of their own."""
    return load_settings({"RETENTION_CLEANUP_BATCH_SIZE": 7, "RETENTION_CLEANUP_DRY_RUN": True})


def test_settings_have_the_defaults(settings: Settings) -> None:
    """As for the command; what scrapyd adds is none of its arguments."""
    order = order_of({"_job": "1f"}, settings)
    assert order == CleanupOrder(batch_size=7, dry_run=True, who="scrapy crawl cleanup")


def test_arguments_win_over_settings(settings: Settings) -> None:
    """All four of them."""
    given = {"batch_size": "50", "dry_run": "0", "only": "artifacts", "max_seconds": "300"}
    order = order_of(given, settings)
    assert (order.batch_size, order.dry_run) == (50, False)
    assert (order.only, order.max_seconds) == (Part.ARTIFACTS, 300.0)


@pytest.mark.parametrize(
    "given",
    [
        {"size": "5"},
        {"only": "everything"},
        {"dry_run": "yes"},
        {"batch_size": "0"},
        {"batch_size": "-1"},
        {"batch_size": "1" * 400},
        {"max_seconds": "1.5"},
        {"max_seconds": "٣"},
    ],
)
def test_a_mistake_is_said_before_anything_starts(given: dict[str, str], settings: Settings) -> None:
    """In one line, which names the argument."""
    with pytest.raises(UsageError, match=next(iter(given))):
        CleanupSpider.prepared(settings, given)


def test_a_dry_run_leaves_everything_as_it_is(database: Database, database_url: str, tmp_path: Path) -> None:
    """Not even a session whose process is gone is ended by it; a pass does that first (SPEC B47)."""
    settings = load_settings({"DATABASE_URL": database_url, "VITRINE_HOME": str(tmp_path)})
    with database.write() as db:
        db.add(a_session(status="running", finished_at=None, owner="gone", alive_until=THEN))
    before = contents_of(database)
    module._clean_up(settings, CleanupOrder(dry_run=True))
    assert contents_of(database) == before
    module._clean_up(settings, CleanupOrder())
    assert contents_of(database)["sessions"] != before["sessions"]
