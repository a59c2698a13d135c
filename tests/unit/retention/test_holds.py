"""Holds: what they keep, from whom, and until when."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import delete

from crawler.clock import utc_now
from crawler.db.models import (
    Artifact,
    Asset,
    AssetVersion,
    AuditEntry,
    CrawlLog,
    CrawlSession,
    Diagnostic,
    Hold,
    Listing,
    Page,
    Price,
    Record,
    WarcFile,
)
from crawler.errors import NotFoundError
from crawler.retention import claims, holds
from crawler.retention.cleanup import CleanupOrder, clean_up
from crawler.retention.holds import HoldResult, Target
from crawler.warc.cdxj import stored_key
from tests.integration.catalogue.visits import DAY, Visits

if TYPE_CHECKING:
    from datetime import datetime

OTHER = "https://other.example/p/1"


def hold(visits: Visits, target: Target, until: datetime | None = None) -> HoldResult:
    """Somebody wants it kept."""
    with visits.database.write() as db:
        return holds.hold(db, target, who="legal", why="case 17", until=until, now=db.now)


def unhold(visits: Visits, target: Target) -> HoldResult:
    """Somebody does not need it any more."""
    with visits.database.write() as db:
        return holds.unhold(db, target, who="legal", why="closed", now=db.now)


def let_all_expire(visits: Visits) -> None:
    """Years go by."""
    past = utc_now() - 1000 * DAY
    visits.change(Artifact, Artifact.type == "html_gz", retention_until=past)
    visits.change(Price, seen_at=past)
    visits.change(Diagnostic, timestamp=past)
    visits.change(CrawlLog, timestamp=past)
    visits.change(CrawlSession, finished_at=past)


def clean(visits: Visits) -> Any:
    """One pass of everything."""
    return clean_up(visits.database, visits.blobs, CleanupOrder())


def live_html(visits: Visits) -> set[UUID]:
    """The sessions whose HTML is there."""
    rows = visits.rows(Artifact)
    return {row.session_id for row in rows if row.type == "html_gz" and row.deleted_at is None}


def targets(visits: Visits, session: UUID) -> dict[str, Target]:
    """The ways to hold what a session of shop.example captured."""
    listing = next(row for row in visits.rows(Listing) if row.domain == "shop.example")
    return {
        "session": Target(session_id=session),
        "listing": Target(listing_id=listing.id),
        "domain": Target(domain="shop.example"),
    }


@pytest.mark.parametrize("kind", ["session", "listing", "domain"])
def test_what_is_held_stays(visits: Visits, kind: str) -> None:
    """Files, prices, traces and log lines, in every way to name them; all else goes."""
    session, other = visits.visit(), visits.visit(url=OTHER)
    target = targets(visits, session)[kind]
    assert hold(visits, target).artifacts == 4
    let_all_expire(visits)
    result = clean(visits)
    assert (result.candidates, result.deleted) == (1, 1)
    assert live_html(visits) == {session}
    for table in (Price, Diagnostic, CrawlLog):
        assert {row.session_id for row in visits.rows(table)} == {session}
    assert unhold(visits, target).artifacts == 4
    assert {row.id for row in visits.rows(CrawlSession)} == {session, other}
    assert clean(visits).deleted == 4  # its HTML; and of the other, that has no price any more, all the rest
    assert live_html(visits) == set()
    assert visits.count(Price) == 0
    assert {row.id for row in visits.rows(CrawlSession)} == {session}
    assert clean(visits).deleted == 3
    assert visits.count(CrawlSession) == 0
    assert list(visits.blobs.entries()) == []


@pytest.mark.parametrize("kind", ["session", "listing", "domain"])
def test_an_asset_that_is_held_stays(visits: Visits, kind: str) -> None:
    """By its domain, its product, or the session that read a version of it; others go, whatever is held."""
    session = visits.visit()
    target = targets(visits, session)[kind]
    page = visits.rows(Page)[0]
    by = {
        "session": {"page_id": page.id},
        "listing": {"listing_id": target.listing_id},
        "domain": {"domain": "shop.example"},
    }  # fmt: skip
    held, free = add_asset(visits, **by[kind]), add_asset(visits)
    hold(visits, target)
    clean(visits)
    assert {row.id for row in visits.rows(Asset)} == {held}
    assert {row.asset_id for row in visits.rows(AssetVersion)} == {held}
    assert free != held
    unhold(visits, target)
    clean(visits)
    assert (visits.count(Asset), visits.count(AssetVersion)) == (0, 0)


def add_asset(visits: Visits, *, page_id: UUID | None = None, **columns: Any) -> int:
    """An asset that was last seen years ago, with a version; its id."""
    past = utc_now() - 1000 * DAY
    given = {"domain": "elsewhere.example", **columns}
    with visits.database.write() as db:
        asset = Asset(
            source="shop", plugin="page", kind="page", key="x", key_sha256=str(uuid4()), url=OTHER,
            checksum="1", first_seen_at=past, last_seen_at=past, last_run_id=1, **given,
        )  # fmt: skip
        db.add(asset)
        db.flush()
        db.add(
            AssetVersion(
                asset_id=asset.id, number=1, checksum="1", content={}, details={}, page_id=page_id,
                seen_at=past,
            )
        )  # fmt: skip
        return asset.id


def test_what_comes_later_is_held_too(visits: Visits) -> None:
    """A domain's hold covers the sessions that begin under it."""
    first = visits.visit()
    hold(visits, Target(domain="shop.example"))
    second = visits.visit()
    let_all_expire(visits)
    assert clean(visits).candidates == 0
    assert live_html(visits) == {first, second}


def test_a_hold_ends_at_its_date(visits: Visits) -> None:
    """By itself; the row says so."""
    session = visits.visit()
    hold(visits, Target(session_id=session), until=utc_now() + DAY)
    let_all_expire(visits)
    assert clean(visits).candidates == 0
    ended = utc_now() - timedelta(seconds=1)
    visits.change(Hold, until=ended)
    assert clean(visits).deleted == 1
    [row] = visits.rows(Hold)
    assert (row.released_at, row.released_by) == (ended, holds.BY_DATE)


def test_two_holds_have_to_end(visits: Visits) -> None:
    """What another one covers stays held."""
    session = visits.visit()
    hold(visits, Target(session_id=session))
    hold(visits, Target(domain="shop.example"))
    assert unhold(visits, Target(session_id=session)).artifacts == 0
    let_all_expire(visits)
    assert clean(visits).candidates == 0
    assert unhold(visits, Target(domain="shop.example")).artifacts == 4


def test_a_hold_before_the_claim_wins(visits: Visits) -> None:
    """A cleaner that looked before the hold finds the mark when it claims."""
    session = visits.visit()
    let_all_expire(visits)
    now = utc_now()
    with visits.database.read() as db:
        assert len(claims.candidates(db, now, 10)) == 1
    hold(visits, Target(session_id=session))
    with visits.database.write() as db:
        assert claims.take_expired(db, "cleaner", now, 10) == []


def test_a_hold_after_the_claim_says_that_it_may_be_late(visits: Visits) -> None:
    """The cleaner may have the file already; it marks what is gone, and never takes the row again."""
    session = visits.visit()
    let_all_expire(visits)
    with visits.database.write() as db:
        assert len(claims.take_expired(db, "cleaner", utc_now(), 10)) == 1
    result = hold(visits, Target(session_id=session))
    assert (result.artifacts, result.too_late) == (4, 1)
    visits.change(Artifact, Artifact.cleanup_claim.is_not(None), cleanup_claimed_until=utc_now() - DAY)
    assert clean(visits).candidates == 0  # the cleaner died before it came to the file
    assert live_html(visits) == {session}
    [entry] = visits.rows(AuditEntry)
    assert (entry.action, entry.actor, entry.details["too_late"]) == ("retention.hold", "legal", 1)


def test_a_domain_that_only_a_job_has_archived_is_known(visits: Visits) -> None:
    """What is known is more than what was visited; one that nobody knows is told as that."""
    with visits.database.write() as db:
        file = WarcFile(folder="/job", path="x.warc.gz", state="sealed", created_at=db.now)
        db.add(file)
        db.flush()
        url = "https://archived.example/p"
        db.add(Record(warc_file_id=file.id, offset=0, kind="response", url=url, url_key=stored_key(url)))
    assert not hold(visits, Target(domain="archived.example")).is_empty
    assert hold(visits, Target(domain="nobody.example")).is_empty


def test_lifting_what_is_not_held_is_told(visits: Visits) -> None:
    """Nothing is written."""
    with pytest.raises(NotFoundError, match=r"there is no hold on domain shop\.example"):
        unhold(visits, Target(domain="shop.example"))
    assert visits.count(AuditEntry) == 0


def test_a_held_session_row_stays(visits: Visits) -> None:
    """Even when nothing else names it."""
    session = visits.visit()
    hold(visits, Target(session_id=session))
    visits.lose_files(session, 1000 * DAY)
    with visits.database.write() as db:
        db.execute(delete(Price))
    clean(visits)
    assert visits.count(CrawlSession) == 1
    unhold(visits, Target(session_id=session))
    clean(visits)
    assert visits.count(CrawlSession) == 0


@pytest.mark.parametrize("kind", ["listing", "domain"])
def test_a_held_price_stays_although_its_session_is_gone(visits: Visits, kind: str) -> None:
    """A price carries its own proof, and a hold on its product or domain covers it without a session."""
    target = targets(visits, visits.visit())[kind]
    visits.change(Price, session_id=uuid4(), seen_at=utc_now() - 1000 * DAY)
    hold(visits, target)
    clean(visits)
    assert visits.count(Price) == 1
    unhold(visits, target)
    clean(visits)
    assert visits.count(Price) == 0
