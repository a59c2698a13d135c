"""A purge takes everything of a domain or a session, at once and for good, and nothing of another."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from attrs import asdict
from sqlalchemy import select, update

from crawler.clock import utc_now
from crawler.db.models import (
    Artifact,
    Asset,
    AssetVersion,
    AuditEntry,
    Base,
    CrawlSession,
    DomainGate,
    Haul,
    Listing,
    Page,
    Record,
    Run,
    RunWorker,
    ScrapeRecord,
    Task,
    WarcFile,
)
from crawler.errors import LockedError, UsageError
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import adopt_store
from crawler.retention import claims, holds, purge
from crawler.retention.holds import HeldError, Target
from crawler.retention.purge import PurgeOrder
from tests.integration.retention.fate import Crash, Fate, FatefulDatabase, FatefulStore
from tests.unit.retention.contents import contents_of, naming
from tests.unit.retention.everything import (
    Laid,
    Word,
    a_session,
    add_asset,
    add_in_order,
    files_naming,
    lay_out,
    rows_of_session,
)
from tests.unit.retention.stored import DAY

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database

GONE = Word("canary.example", "zanzibar")
KEPT = Word("other.example", "timbuktu")
DOMAIN = Target(domain=GONE.domain)
PAST = utc_now() - DAY
# What operators did, ordered or set; docs/retention.md says that a purge leaves it.
OPERATORS = {
    "alembic_version", "audit_log", "batches", "export_history", "job_steps", "job_workers", "jobs",
    "retention_config",
    "retention_results", "store_marks",
}  # fmt: skip
# Tables that have rows of a domain, and name it by the key of another row alone.
SILENT = {"asset_sightings", "link_counts", "outlinks", "run_workers"}
_INDEXES = ("snapshot_grams_", "text_words_")  # SQLite's own tables of an index


class Place:
    """A database, a store and a folder of reports, with everything of two domains in them."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.folder = folder
        self.blobs = FolderStore(folder / "artifacts")
        adopt_store(database, self.blobs)
        self.laid: Laid = lay_out(database, self.blobs, folder / "reports", GONE, KEPT)

    def order(self, target: Target = DOMAIN, *, with_prices: bool = True) -> PurgeOrder:
        """What is to go."""
        return PurgeOrder(
            target, with_prices=with_prices, who="me", before=utc_now(), reports=self.folder / "reports"
        )

    def purge(self, target: Target = DOMAIN, *, with_prices: bool = True) -> dict[str, Any]:
        """Do it."""
        return purge.purge(self.database, self.blobs, self.order(target, with_prices=with_prices))

    def preview(self) -> dict[str, Any]:
        """What a purge of the domain would take."""
        with self.database.read() as db:
            return asdict(purge.preview(db, self.order()))

    def hold(self, target: Target) -> None:
        """Somebody wants it kept."""
        with self.database.write() as db:
            holds.hold(db, target, who="legal", why="case", until=None, now=db.now)

    def rows(self, table: type[Base]) -> list[Any]:
        """What a table has."""
        with self.database.read() as db:
            return list(db.scalars(select(table)))

    def change(self, table: type[Base], *which: Any, **columns: Any) -> None:
        """Somebody writes to it."""
        with self.database.write() as db:
            db.execute(update(table).where(*which).values(**columns))


@pytest.fixture
def place(database: Database, tmp_path: Path) -> Place:
    """Everything is there."""
    return Place(database, tmp_path)


def test_the_test_knows_every_table(place: Place) -> None:
    """A table that is new is to be laid out and to be purged, or to be named as an operator's."""
    named = set(naming(place.database, GONE.domain)) | set(naming(place.database, GONE.canary))
    filled = {name for name, rows in contents_of(place.database).items() if rows}
    assert _of_domains(named | SILENT) == _of_domains(filled)
    assert set(Base.metadata.tables) <= filled | OPERATORS


def test_nothing_is_left_when_all_is_purged(place: Place) -> None:
    """Not a row of any table but of those that say what operators did."""
    for word in (GONE, KEPT):
        place.purge(Target(domain=word.domain))
    left = {name for name, rows in contents_of(place.database).items() if rows}
    assert _of_domains(left) == set()


def _of_domains(tables: set[str]) -> set[str]:
    return {name for name in tables - OPERATORS if not name.startswith(_INDEXES)}


@pytest.mark.parametrize("with_prices", [True, False])
def test_nothing_of_a_session_is_left(place: Place, *, with_prices: bool) -> None:
    """What it alone saw goes with it; other sessions of its domain keep all of theirs."""
    session = place.laid.sessions[GONE.domain]
    others = naming(place.database, str(place.laid.runs[GONE.domain]))
    kept = naming(place.database, KEPT.domain)
    place.purge(Target(session_id=session), with_prices=with_prices)
    left = set(naming(place.database, str(session))) | set(naming(place.database, session.hex))
    assert left == {"audit_log"} if with_prices else {"audit_log", "price_history"}
    assert files_naming(place.folder / "artifacts", str(session)) == []
    assert naming(place.database, KEPT.domain) == kept
    assert len([row for row in place.rows(CrawlSession) if row.domain == GONE.domain]) == 2
    assert len([row for row in place.rows(Listing) if row.domain == GONE.domain]) == (2 if with_prices else 3)
    assert others


def test_a_run_goes_with_its_only_visit(place: Place) -> None:
    """Tasks, assets, records and report; a run that others had a part in keeps theirs."""
    run = place.laid.runs[GONE.domain]
    [visit] = [row for row in place.rows(CrawlSession) if row.run_id == run]
    place.purge(Target(session_id=visit.id))
    assert run not in {row.id for row in place.rows(Run)}
    assert run not in {row.run_id for row in place.rows(Task)}
    assert run not in {row.last_run_id for row in place.rows(Asset)}
    assert str(run) not in {row.subject_id for row in place.rows(ScrapeRecord) if row.kind == "run"}
    assert not list((place.folder / "reports").glob(f"*run-{run}.*"))
    assert len(place.rows(Run)) == 2


def test_a_visit_takes_its_tasks_out_of_a_run_of_others(place: Place) -> None:
    """The page that it stored; what was not fetched yet stays to be fetched."""
    [visit] = [
        row for row in place.rows(CrawlSession)
        if row.run_id == place.laid.shared_run and row.domain == GONE.domain
    ]  # fmt: skip
    place.purge(Target(session_id=visit.id))
    left = [row for row in place.rows(Task) if row.run_id == place.laid.shared_run]
    assert sorted(row.domain for row in left) == [GONE.domain] * 2 + [KEPT.domain] * 3
    assert {row.status for row in left if row.domain == GONE.domain} == {"pending", "error"}
    [run] = [row for row in place.rows(Run) if row.id == place.laid.shared_run]
    assert run.planned == 5


def an_asset_of_both(place: Place) -> int:
    """An asset of which the purged domain has the newest version, and the other one the first; its id."""
    with place.database.write() as db:
        pages = []
        for word in (KEPT, GONE):
            _, rows, page = rows_of_session(word, place.laid.shared_run)
            add_in_order(db, rows)
            pages.append(page)
        return add_asset(db, place.laid.shared_run, GONE, *pages, key="both").id


def test_an_asset_that_another_domain_saw_is_what_it_saw(place: Place) -> None:
    """The purged domain's version goes, the other's is the newest again."""
    asset = an_asset_of_both(place)
    place.purge()
    [row] = [row for row in place.rows(Asset) if row.id == asset]
    [version] = [row for row in place.rows(AssetVersion) if row.asset_id == asset]
    assert (row.versions, row.checksum, row.domain, row.title) == (1, version.checksum, KEPT.domain, None)


def test_an_asset_whose_versions_are_gone_gets_one_anew(place: Place) -> None:
    """Another domain saw it last, and saw no change: its next visit writes what it sees."""
    with place.database.write() as db:
        _, rows, page = rows_of_session(GONE, place.laid.shared_run)
        add_in_order(db, rows)
        asset = add_asset(db, place.laid.shared_run, GONE, page, key="moved")
        asset.domain = KEPT.domain
        key = asset.id
    place.purge()
    [row] = [row for row in place.rows(Asset) if row.id == key]
    assert (row.versions, row.checksum) == (1, "")


@pytest.mark.parametrize(
    "columns",
    [{"token": "vitrine:x", "expires_at": utc_now() + DAY}, {"delay_until": utc_now() + DAY}],
)
def test_a_domain_that_is_held_or_asked_for_rest_keeps_its_gate(
    place: Place, columns: dict[str, Any]
) -> None:
    """A purge makes nobody less polite."""
    place.change(DomainGate, **columns)
    place.purge()
    assert len(place.rows(DomainGate)) == 2


def test_a_session_that_is_queued_there_later_stays(place: Place) -> None:
    """What begins after the order is not meant by it."""
    order = place.order()
    late = a_session(GONE)
    late.created_at = utc_now() + DAY
    with place.database.write() as db:
        db.add(late)
    purge.purge(place.database, place.blobs, order)
    assert [row.id for row in place.rows(CrawlSession) if row.domain == GONE.domain] == [late.id]


def test_archives_of_a_domain_go(place: Place) -> None:
    """The files first, whether they were sealed or not, then their rows and those of what is in them."""
    folder = place.folder / "warcs"
    folder.mkdir()
    names = {row.path: row.session_id for row in place.rows(WarcFile)}
    place.change(WarcFile, folder=str(folder))
    for name in names:
        (folder / name).write_bytes(b"sealed")
        (folder / f"{name}.open").write_bytes(b"open")
    place.purge()
    left = {path.name for path in folder.iterdir()}
    assert left == {each for name in names if KEPT.canary in name for each in (name, f"{name}.open")}
    assert {row.path for row in place.rows(WarcFile)} == {name for name in names if KEPT.canary in name}
    assert all(KEPT.canary in row.url for row in place.rows(Record))


def test_a_purge_leaves_nothing_of_its_domain(place: Place) -> None:
    """No column of any table, no file and no report names it; the audit log alone says what was done."""
    place.purge()
    assert naming(place.database, GONE.canary) == {}
    assert set(naming(place.database, GONE.domain)) == {"audit_log"}
    assert files_naming(place.folder / "artifacts", GONE.canary) == []
    assert files_naming(place.folder / "artifacts", GONE.domain) == []
    assert files_naming(place.folder / "reports", GONE.domain) == []


def test_a_purge_touches_no_other_domain(place: Place) -> None:
    """Every row and file of it is as it was; a run and a haul of both forget only the purged one."""
    before, files = naming(place.database, KEPT.domain), files_naming(place.folder / "artifacts", KEPT.domain)
    place.purge()
    after = naming(place.database, KEPT.domain)
    assert len(before.pop("runs")) == len(after.pop("runs")) == 2
    assert after == before
    assert files_naming(place.folder / "artifacts", KEPT.domain) == files
    [run] = [run for run in place.rows(Run) if run.id == place.laid.shared_run]
    assert (run.plan["start_urls"], run.plan["allowed_domains"]) == ([KEPT.url()], [KEPT.domain])
    assert run.planned == 3
    assert {haul.name for haul in place.rows(Haul)} == {"spring", f"haul of {KEPT.domain}"}
    reports = [path.name for path in (place.folder / "reports").glob("*.json")]
    assert reports == [f"run-{place.laid.runs[KEPT.domain]}.json"]


def test_products_and_prices_stay_unless_asked_for(place: Place) -> None:
    """They carry their own proof; a second purge takes them."""
    place.purge(with_prices=False)
    assert set(naming(place.database, GONE.canary)) == {"listings", "price_history"}
    assert {row.last_session_id for row in place.rows(Listing) if row.domain == GONE.domain} == {None}
    assert place.purge()["listings"] == 3
    assert naming(place.database, GONE.canary) == {}


def test_the_preview_the_result_and_the_audit_log_agree(place: Place) -> None:
    """On how much goes; a preview changes nothing."""
    an_asset_of_both(place)
    before = contents_of(place.database)
    figures = place.preview()
    assert contents_of(place.database) == before
    details = place.purge()
    [entry] = place.rows(AuditEntry)
    assert (entry.action, entry.subject, entry.actor) == ("purge", f"domain {GONE.domain}", "me")
    assert {**entry.details, "failed": 0} == details
    assert details.items() >= {**figures, "state": "done"}.items()
    assert figures.pop("captures") == 0  # test_archives
    assert all(figures.values()), figures


def test_a_purge_that_is_killed_is_finished_by_the_next(database_url: str, tmp_path: Path) -> None:
    """Wherever it dies, and however often; its one entry in the audit log counts all that went."""
    database = FatefulDatabase(database_url)
    place = Place(database, tmp_path)
    figures = place.preview()
    details: dict[str, Any] = {}
    for steps in count(1, 9):
        database.fate = Fate(steps)
        try:
            store = FatefulStore(place.blobs.root, database.fate)
            details = purge.purge(database, store, place.order())
            break
        except Crash:
            database.fate = Fate()
            place.change(Artifact, Artifact.cleanup_claim.is_not(None), cleanup_claimed_until=PAST)
    assert steps > 30
    assert details.items() >= {**figures, "state": "done"}.items()
    assert naming(database, GONE.canary) == {}
    assert len(place.rows(AuditEntry)) == 1
    database.close()


@pytest.mark.parametrize("kind", ["session", "listing", "domain"])
def test_a_hold_forbids_a_purge(place: Place, kind: str) -> None:
    """Of whatever the hold is, and of whatever the purge: nothing is touched."""
    session = place.laid.sessions[GONE.domain]
    [page] = [row for row in place.rows(Page) if row.session_id == session]
    place.hold(
        {"session": Target(session_id=session), "listing": Target(listing_id=page.listing_id)}.get(
            kind, DOMAIN
        )
    )
    before = contents_of(place.database)
    for target in (DOMAIN, Target(session_id=session)):
        with pytest.raises(HeldError) as caught:
            place.purge(target)
        assert caught.value.exit_code == 5
    assert contents_of(place.database) == before


def test_a_hold_that_is_set_while_files_go_stops_the_purge(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not claimed yet stays, with every row; the record stays open."""
    monkeypatch.setattr(claims, "CLAIM_ROWS", 2)
    held: list[object] = []

    def set_hold(_: object) -> None:
        if not held:
            place.hold(DOMAIN)
            held.append(DOMAIN)

    files = len(files_naming(place.folder / "artifacts", GONE.domain))
    with pytest.raises(HeldError):
        purge.purge(place.database, place.blobs, place.order(), set_hold)
    assert len(files_naming(place.folder / "artifacts", GONE.domain)) == files - 2
    assert len([row for row in place.rows(CrawlSession) if row.domain == GONE.domain]) == 3
    assert place.rows(AuditEntry)[0].details["state"] == "begun"


def test_a_run_or_session_at_work_forbids_a_purge(place: Place) -> None:
    """Nothing is taken away from under it; a worker that is silent is gone."""
    run, session = place.laid.shared_run, place.laid.sessions[GONE.domain]
    with place.database.write() as db:
        db.add(RunWorker(run_id=run, owner="worker", alive_until=utc_now() + DAY))
    before = contents_of(place.database)
    with pytest.raises(LockedError, match=f"run {run} is at work"):
        place.purge()
    assert contents_of(place.database) == before
    place.change(RunWorker, alive_until=PAST)
    place.change(CrawlSession, CrawlSession.id == session, status="running")
    with pytest.raises(LockedError, match=f"session {session} is at work"):
        place.purge()
    place.change(CrawlSession, status="completed")
    assert place.purge()["state"] == "done"


def test_a_file_that_cannot_be_removed_keeps_its_rows(place: Place) -> None:
    """Until a later purge can remove it, somebody can still find the file by its row."""
    [file, *_] = [path for path in place.blobs.root.rglob("*") if path.is_file() and GONE.domain in str(path)]
    content = file.read_bytes()
    file.unlink()
    file.mkdir()
    details = place.purge()
    assert (details["failed"], details["state"]) == (1, "begun")
    assert len(place.rows(CrawlSession)) == 6
    file.rmdir()
    file.write_bytes(content)
    assert place.purge()["failed"] == 0
    assert len(place.rows(CrawlSession)) == 3
    assert len(place.rows(AuditEntry)) == 1


def test_a_product_is_not_purged_alone(place: Place) -> None:
    """Products never expire."""
    with place.database.read() as db, pytest.raises(UsageError):
        purge.preview(db, place.order(Target(listing_id=place.rows(Listing)[0].id)))


def test_a_hold_that_is_set_while_rows_go_stops_the_purge(database_url: str, tmp_path: Path) -> None:
    """The files are gone by then; the sessions' rows stay, and the record stays open."""
    database = FatefulDatabase(database_url)
    place = Place(database, tmp_path)

    def set_hold() -> None:
        database.fate = Fate()
        place.hold(DOMAIN)

    database.fate = Fate(20, set_hold)
    with pytest.raises(HeldError):
        place.purge()
    assert files_naming(place.folder / "artifacts", GONE.domain) == []
    assert len([row for row in place.rows(CrawlSession) if row.domain == GONE.domain]) == 3
    assert place.rows(AuditEntry)[0].details["state"] == "begun"
    database.close()
