"""One shop is one site: what is captured by its source and by its domain is found and compared as one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from crawler.archive.sites import Sites
from crawler.db.models import CrawlSession, PageGroup, RegisteredSource, Run
from crawler.evidence.folder_store import FolderStore
from tests.unit.archive.stored import index_pages, keep
from tests.unit.archive.written import NOON, SHOP

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine

PAGE = '<title>Cups</title><main><p>Cups of stoneware, thrown by hand. {} EUR <a href="/next">Next</a>'
DAY = timedelta(days=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The operator's sources: one shop, and one agency with two sources on one domain."""
    path = tmp_path / "sources.toml"
    path.write_text(
        f'[sources.cups]\nname = "Cups & Co"\nstart_urls = ["{SHOP}"]\n'
        '[sources.news]\nstart_urls = ["https://agency.example/news"]\n'
        '[sources.law]\nstart_urls = ["https://agency.example/law"]\n',
        encoding="utf-8",
    )
    return path


def captured(database: Database, blobs: FolderStore, at: datetime, *, by: str | None = None) -> None:
    """Keep the shop's home page, as a run of a source captures it or as a visit to the domain does."""
    keep(database, blobs, PAGE.format(at.day), SHOP, at=at)
    if by is None:
        return
    with database.write() as db:
        run = Run(source=by, plan={}, created_at=at)
        db.add(run)
        db.flush()
        mine = update(CrawlSession).where(CrawlSession.created_at == at)
        db.execute(mine.values(run_id=run.id, kind="run"))


@pytest.mark.parametrize("is_known_first", [True, False])
def test_a_shop_is_one_site(
    database: Database, database_url: str, vitrine: Vitrine, tmp_path: Path, file: Path, *,
    is_known_first: bool,
) -> None:  # fmt: skip
    """By its source's code and by its domain, whichever came first; its captures are compared."""
    blobs, sites = FolderStore(tmp_path / "kept"), Sites.of_file(file)
    captured(database, blobs, NOON)
    captured(database, blobs, NOON + 2 * DAY)
    index_pages(database, blobs, sites=sites if is_known_first else Sites())
    captured(database, blobs, NOON + DAY, by="Cups")
    index_pages(database, blobs, sites=sites if is_known_first else Sites())
    index_pages(database, blobs, sites=sites)

    def told(*given: str) -> Any:
        done = vitrine(*given, "--json", DATABASE_URL=database_url, SOURCES_FILE=str(file))
        assert done.code == 0, done.err
        return done.document

    for named in ("cups", "CUPS", "shop.example", "www.shop.example"):
        hits = told("search", "stoneware", "--source", named)["results"]
        assert [(hit["source_code"], hit["source_name"]) for hit in hits] == [("cups", "Cups & Co")] * 3
    assert told("search", "stoneware", "--view", "pages")["total"] == 1
    assert told("changes", "compute")["updated"] == 2
    changes = told("changes", "list", "--source", "shop.example")["changes"]
    assert [(each["source_code"], each["change_type"]) for each in changes] == [
        ("cups", "updated"), ("cups", "updated"), ("cups", "new_page"),
    ]  # fmt: skip
    with database.read() as db:
        assert list(db.scalars(select(RegisteredSource.code))) == ["cups"]
        [group] = db.scalars(select(PageGroup))
    assert (group.snapshot_count, group.outlink_count, group.last_at) == (3, 1, NOON + 2 * DAY)


def test_a_domain_of_two_sources_is_a_site_of_its_own(file: Path) -> None:
    """Nobody can say which of them a visit to it belongs to."""
    sites = Sites.of_file(file)
    assert [sites.code_of(each) for each in ("News", "law", "agency.example", "shop.example")] == [
        "news", "law", "agency.example", "cups",
    ]  # fmt: skip
    assert [sites.code_of(each) for each in ("hc", "canada.ca")] == ["hc", "canada.ca"]
