"""Sessions go when nothing needs them any more, and what was stored beside their HTML goes with them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import Asset, AssetVersion, CrawlSession, Page
from crawler.retention.cleanup import CleanupOrder, clean_up
from tests.integration.retention.fate import Crash, Fate, FatefulDatabase, FatefulStore
from tests.unit.retention.stored import DAY, PACKED, Evidence, new_evidence, row

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from crawler.retention.plan import CleanupResult

SIZE = len(PACKED.data)
BESIDE = ("visible_text", "features_json", "session_logs_jsonl", "media")


def add_session(evidence: Evidence, *, age: int = 91, types: tuple[str, ...] = BESIDE) -> UUID:
    """A session that ended so many days ago, with files of these types; its id."""
    then = utc_now() - age * DAY
    session = CrawlSession(
        id=uuid4(), url="https://shop.example/", domain="shop.example", mode="standard",
        retention_policy="standard", status="completed", crawl_policy_version="v1.2", config_snapshot={},
        created_at=then, finished_at=then,
    )  # fmt: skip
    page = Page(
        id=uuid4(), session_id=session.id, epoch=1, page_type="pdp", viewport="desktop", status="ok",
        url="https://shop.example/", low_confidence_reasons=[], load_timings={}, created_at=then,
    )  # fmt: skip
    with evidence.database.write() as db:
        db.add(session)
        db.flush()
        db.add(page)
    for kind in types:
        uri = f"{session.id}/{kind}"
        evidence.write(uri)
        until = then + 14 * DAY if kind == "html_gz" else None
        evidence.add_rows([row(session.id, uri, until, type=kind, page_id=page.id)])
    return session.id


def sessions(evidence: Evidence) -> set[UUID]:
    """Those that are there, but for the one that evidence begins with."""
    with evidence.database.read() as db:
        return set(db.scalars(select(CrawlSession.id))) - {evidence.session_id}


def run(evidence: Evidence, **order: Any) -> CleanupResult:
    """One pass over everything, unless told otherwise."""
    return clean_up(evidence.database, evidence.blobs, CleanupOrder(**order))


def test_everything_of_a_session_goes_together(evidence: Evidence) -> None:
    """Texts, features, log and media when its HTML has gone and its days are over; the younger one stays."""
    add_session(evidence, types=("html_gz", *BESIDE))
    young = add_session(evidence, age=89, types=("html_gz", *BESIDE))
    result = run(evidence)
    assert (result.candidates, result.deleted, result.remaining) == (6, 6, 0)
    assert result.reclaimed_bytes == 6 * SIZE
    assert sessions(evidence) == {young}
    assert evidence.files() == {f"{young}/{kind}" for kind in BESIDE}
    assert {found.session_id for found in evidence.rows().values()} == {young}


def test_html_keeps_the_rest(evidence: Evidence) -> None:
    """Whatever its date says; texts without their page say little."""
    key = add_session(evidence, types=("html_gz", *BESIDE))
    for found in evidence.rows().values():
        if found.type == "html_gz":
            evidence.change(found.id, retention_until=utc_now() + DAY)
    assert run(evidence).candidates == 0
    assert sessions(evidence) == {key}


def test_media_stay_as_long_as_their_asset(evidence: Evidence) -> None:
    """An asset whose version is that file keeps the session with all that it has, for a year."""
    key = add_session(evidence)
    with evidence.database.write() as db:
        page = db.scalars(select(Page.id).where(Page.session_id == key)).one()
        asset = Asset(
            source="shop", plugin="media", kind="media", domain="shop.example", key="x", key_sha256="x",
            url="https://shop.example/x.png", checksum="1", first_seen_at=utc_now(), last_seen_at=utc_now(),
            last_run_id=1,
        )  # fmt: skip
        db.add(asset)
        db.flush()
        db.add(
            AssetVersion(
                asset_id=asset.id, number=1, checksum="1", content={}, details={}, page_id=page,
                seen_at=utc_now(),
            )
        )  # fmt: skip
    assert run(evidence).candidates == 0
    with evidence.database.write() as db:
        db.get_one(Asset, asset.id).last_seen_at = utc_now() - 366 * DAY
    run(evidence)
    assert run(evidence).deleted == 4
    assert sessions(evidence) == set()


def test_a_dry_run_names_them(evidence: Evidence) -> None:
    """As what the pass would take; nothing is gone."""
    add_session(evidence)
    result = run(evidence, dry_run=True)
    assert (result.candidates, result.deleted, result.remaining) == (4, 0, 0)
    assert {each["storage_uri"].rpartition("/")[2] for each in result.artifacts} == set(BESIDE)
    assert len(evidence.files()) == 4


def test_a_file_that_cannot_be_removed_keeps_its_session_alone(evidence: Evidence) -> None:
    """Others go, the failed one rests, and when it can be removed it all goes."""
    stuck = add_session(evidence, age=100, types=("visible_text",))
    add_session(evidence)
    path = evidence.root / f"{stuck}/visible_text"
    path.unlink()
    path.mkdir()
    first = run(evidence)
    assert (first.deleted, first.failed) == (4, 1)
    assert sessions(evidence) == {stuck}
    assert run(evidence).candidates == 0
    path.rmdir()
    evidence.let_pauses_end()
    assert run(evidence).deleted == 1
    assert sessions(evidence) == set()


@pytest.fixture
def fateful(database_url: str) -> Generator[FatefulDatabase]:
    """A database whose cleaner may die."""
    opened = FatefulDatabase(database_url)
    yield opened
    opened.close()


def test_a_cleaner_may_die_at_any_step(fateful: FatefulDatabase, tmp_path: Path) -> None:
    """No file is ever without its row, and the next passes finish what was begun."""
    evidence = new_evidence(fateful, tmp_path / "artifacts")
    for deaths in count(1, 4):
        add_session(evidence, types=("html_gz", *BESIDE))
        fateful.fate = Fate(deaths)
        try:
            clean_up(fateful, FatefulStore(evidence.root, fateful.fate), CleanupOrder())
            died = False
        except Crash:
            died = True
        fateful.fate = Fate()
        live = {each.storage_uri for each in evidence.rows().values() if not each.deleted_at}
        assert evidence.files() <= live
        evidence.let_leases_run_out()
        run(evidence)
        assert (sessions(evidence), evidence.files(), evidence.rows()) == (set(), set(), {})
        if not died:
            break
    assert deaths > 2 * 5 + 3 * 4  # around each removal, and around each transaction
