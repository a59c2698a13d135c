"""Taking everything of a session or a domain out, at once and for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawler.clock import utc_now
from crawler.db.models import (
    Artifact,
    AuditEntry,
    CrawlLog,
    CrawlSession,
    Diagnostic,
    DomainDay,
    Listing,
    Page,
    Price,
    ScrapeRecord,
)
from crawler.errors import LockedError, UsageError
from crawler.evidence.folder_store import FolderStore
from crawler.retention import claims, holds, purge
from crawler.retention.holds import HeldError, Target
from crawler.retention.purge import PurgeOrder
from crawler.views.retention import standing_holds
from tests.integration.catalogue.visits import DAY, Visits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.evidence.blobs import Removal

OTHER = "https://other.example/p/1"
TABLES = (Artifact, CrawlLog, CrawlSession, Diagnostic, DomainDay, Listing, Page, Price, ScrapeRecord)
DOMAIN = Target(domain="shop.example")


class Killed(BaseException):
    """The process is gone."""


class DyingStore(FolderStore):
    """Dies after so many files."""

    def __init__(self, root: Path, files: int) -> None:
        super().__init__(root)
        self.left = files

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Die on the way."""
        for removal in super().delete_all(uris):
            if not self.left:
                raise Killed
            self.left -= 1
            yield removal


def order(target: Target, *, with_prices: bool = False) -> PurgeOrder:
    """What is to go."""
    return PurgeOrder(target, with_prices=with_prices, who="me", before=utc_now(), reports=Path("no-reports"))


def run(visits: Visits, target: Target, *, with_prices: bool = False) -> dict[str, Any]:
    """Do it."""
    return purge.purge(visits.database, visits.blobs, order(target, with_prices=with_prices))


def counts(visits: Visits) -> dict[str, int]:
    """How many rows there are of everything."""
    return {table.__tablename__: visits.count(table) for table in TABLES}


def test_a_domain_goes_and_another_stays(visits: Visits) -> None:
    """Files, rows, its days, and on request its prices and products; one entry says what."""
    visits.visit(url=OTHER)
    before, files = counts(visits), {entry.uri for entry in visits.blobs.entries()}
    visits.visit()
    visits.visit()
    details = run(visits, DOMAIN, with_prices=True)
    assert counts(visits) == before
    assert {entry.uri for entry in visits.blobs.entries()} == files
    [entry] = visits.rows(AuditEntry)
    assert (entry.action, entry.subject, entry.actor) == ("purge", "domain shop.example", "me")
    figures = {"sessions": 2, "pages": 2, "files": 8, "prices": 1, "listings": 1, "state": "done"}
    assert entry.details.items() >= figures.items()
    assert details == {**entry.details, "failed": 0}
    assert details["bytes"] > 0


def test_prices_stay_unless_asked_for(visits: Visits) -> None:
    """With their proof: URL, digest and time outlive the session."""
    visits.visit()
    run(visits, DOMAIN)
    assert (visits.count(CrawlSession), visits.count(Price), visits.count(Listing)) == (0, 1, 1)


def test_a_session_goes_alone(visits: Visits) -> None:
    """Others of its domain stay, and so does its product."""
    gone, kept = visits.visit(), visits.visit({"name": "A chair", "price": "5", "currency": "EUR"})
    run(visits, Target(session_id=gone), with_prices=True)
    assert [row.id for row in visits.rows(CrawlSession)] == [kept]
    assert [row.session_id for row in visits.rows(Price)] == [kept]
    assert visits.count(Listing) == 1
    assert visits.count(ScrapeRecord) == 1


def test_a_preview_says_what_would_go(visits: Visits) -> None:
    """And changes nothing."""
    visits.visit()
    before = counts(visits)
    with visits.database.read() as db:
        figures = purge.preview(db, order(DOMAIN, with_prices=True))
    assert (figures.sessions, figures.files, figures.prices, figures.listings) == (1, 4, 1, 1)
    assert counts(visits) == before


@pytest.mark.parametrize("kind", ["session", "listing", "domain"])
def test_a_hold_forbids_it(visits: Visits, kind: str) -> None:
    """In whatever way the hold is worded; nothing is touched."""
    session = visits.visit()
    listing = visits.rows(Listing)[0].id
    held = {"session": Target(session_id=session), "listing": Target(listing_id=listing), "domain": DOMAIN}
    with visits.database.write() as db:
        holds.hold(db, held[kind], who="legal", why="case", until=None, now=utc_now())
    before = counts(visits)
    for target in (DOMAIN, Target(session_id=session)):
        with pytest.raises(HeldError) as caught:
            run(visits, target, with_prices=True)
        assert caught.value.exit_code == 5
    assert counts(visits) == before


def test_a_session_at_work_forbids_it(visits: Visits) -> None:
    """What still writes is not taken away from under its crawl."""
    visits.visit()
    visits.change(CrawlSession, status="running")
    with pytest.raises(LockedError, match="is at work"):
        run(visits, DOMAIN)


def test_a_listing_is_no_target(visits: Visits) -> None:
    """Products never expire, and are not purged alone."""
    visits.visit()
    with visits.database.read() as db, pytest.raises(UsageError):
        purge.preview(db, order(Target(listing_id=visits.rows(Listing)[0].id)))


@pytest.mark.parametrize("files", [0, 1, 5, 7])
def test_killed_among_the_files_it_goes_on(visits: Visits, files: int) -> None:
    """The second try finishes, and one entry has the whole of it."""
    visits.visit()
    visits.visit()
    store = DyingStore(visits.blobs.root, files)
    with pytest.raises(Killed):
        purge.purge(visits.database, store, order(DOMAIN, with_prices=True))
    visits.change(Artifact, Artifact.cleanup_claim.is_not(None), cleanup_claimed_until=utc_now() - DAY)
    run(visits, DOMAIN, with_prices=True)
    assert counts(visits) == dict.fromkeys(counts(visits), 0)
    assert list(visits.blobs.entries()) == []
    [entry] = visits.rows(AuditEntry)
    assert (entry.details["state"], entry.details["sessions"], entry.details["files"]) == ("done", 2, 8)


def test_a_hold_in_the_middle_stops_it(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not claimed yet stays, with every row; the record stays open."""
    monkeypatch.setattr(claims, "CLAIM_ROWS", 2)
    visits.visit()

    def set_hold(_: object) -> None:
        with visits.database.write() as db:
            if not standing_holds(db, utc_now()):
                holds.hold(db, DOMAIN, who="legal", why="case", until=None, now=utc_now())

    with pytest.raises(HeldError):
        purge.purge(visits.database, visits.blobs, order(DOMAIN), set_hold)
    assert len(list(visits.blobs.entries())) == 2
    assert (visits.count(CrawlSession), visits.count(Artifact)) == (1, 4)
    assert visits.rows(AuditEntry)[0].details["state"] == "begun"


def test_killed_among_the_rows_it_goes_on(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few sessions are gone, the rest follows."""
    monkeypatch.setattr(purge, "SESSIONS_AT_ONCE", 1)
    visits.visit()
    visits.visit()
    remove, calls = purge._remove_sessions, []

    def die_at_the_second(*args: Any, **kwargs: Any) -> purge.Figures:
        calls.append(args)
        if len(calls) == 2:
            raise Killed
        return remove(*args, **kwargs)

    monkeypatch.setattr(purge, "_remove_sessions", die_at_the_second)
    with pytest.raises(Killed):
        run(visits, DOMAIN)
    assert visits.count(CrawlSession) == 1
    run(visits, DOMAIN)
    [entry] = visits.rows(AuditEntry)
    assert (entry.details["state"], entry.details["sessions"], entry.details["files"]) == ("done", 2, 8)


def test_a_file_that_cannot_be_removed_keeps_its_rows(visits: Visits) -> None:
    """The next try may do it; until then somebody can still find the file by its row."""
    visits.visit()
    row = visits.rows(Artifact)[0]
    file = visits.blobs.root / row.storage_uri
    content = file.read_bytes()
    file.unlink()
    file.mkdir()
    details = run(visits, DOMAIN)
    assert (details["failed"], details["state"], visits.count(CrawlSession)) == (1, "begun", 1)
    file.rmdir()
    file.write_bytes(content)
    assert run(visits, DOMAIN)["failed"] == 0
    assert (visits.count(CrawlSession), visits.count(AuditEntry)) == (0, 1)
