"""What a purge takes: everything of its domain or session, and nothing of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from attrs import asdict
from sqlalchemy import select, update

from crawler.clock import utc_now
from crawler.db.models import (
    Asset,
    AssetVersion,
    Base,
    CrawlSession,
    DomainGate,
    Haul,
    HaulMember,
    Listing,
    Price,
    Record,
    Run,
    RunWorker,
    ScrapeRecord,
    Task,
    WarcFile,
)
from crawler.errors import LockedError
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import adopt_store
from crawler.retention import belongings, purge
from crawler.retention.holds import Target
from crawler.retention.purge import PurgeOrder
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


def test_nothing_of_a_domain_is_left(place: Place) -> None:
    """No column of any table, no file, no report names it; only the log of actions says what was done."""
    place.purge()
    assert naming(place.database, GONE.canary) == {}
    assert set(naming(place.database, GONE.domain)) == {"audit_log"}
    assert files_naming(place.folder / "artifacts", GONE.canary) == []
    assert files_naming(place.folder / "artifacts", GONE.domain) == []
    assert files_naming(place.folder / "reports", GONE.domain) == []


def test_another_domain_is_untouched(place: Place) -> None:
    """Every row and every file of it is as it was; a run of both forgets the one."""
    before, files = naming(place.database, KEPT.domain), files_naming(place.folder / "artifacts", KEPT.domain)
    place.purge()
    after = naming(place.database, KEPT.domain)
    shared = before.pop("runs"), after.pop("runs")
    assert after == before
    assert files_naming(place.folder / "artifacts", KEPT.domain) == files
    assert [len(runs) for runs in shared] == [2, 2]
    [run] = [run for run in place.rows(Run) if run.id == place.laid.shared_run]
    assert (run.plan["start_urls"], run.plan["allowed_domains"]) == ([KEPT.url()], [KEPT.domain])
    assert run.planned == 3
    kept = place.folder / "reports" / f"run-{place.laid.runs[KEPT.domain]}.json"
    assert [path.name for path in (place.folder / "reports").iterdir() if path.suffix == ".json"] == [
        kept.name
    ]


def test_products_and_prices_stay_unless_asked_for(place: Place) -> None:
    """With the proof that they carry themselves, and nothing else."""
    place.purge(with_prices=False)
    assert set(naming(place.database, GONE.canary)) == {"listings", "price_history"}
    assert {row.last_session_id for row in place.rows(Listing) if row.domain == GONE.domain} == {None}


def test_the_preview_counts_what_goes(place: Place) -> None:
    """The same figures before and after, and nothing is changed by looking."""
    an_asset_of_both(place)
    before = contents_of(place.database)
    with place.database.read() as db:
        figures = asdict(purge.preview(db, place.order()))
    assert contents_of(place.database) == before
    details = place.purge()
    assert {name: details[name] for name in figures} == figures
    assert figures.pop("captures") == 0  # test_archives
    assert all(figures.values()), figures


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


def test_a_haul_of_others_keeps_theirs(place: Place) -> None:
    """The domain's members go; a haul of nothing else goes with them."""
    place.purge()
    assert {haul.name for haul in place.rows(Haul)} == {"spring", f"haul of {KEPT.domain}"}
    assert {KEPT.domain in member.url for member in place.rows(HaulMember)} == {True}


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


def test_a_run_at_work_forbids_it(place: Place) -> None:
    """Its tasks are not taken away from under it; a worker that is silent is gone."""
    with place.database.write() as db:
        alive = utc_now() + DAY
        db.add(RunWorker(run_id=place.laid.shared_run, owner="worker", alive_until=alive))
    before = contents_of(place.database)
    with pytest.raises(LockedError, match=f"run {place.laid.shared_run} is at work"):
        place.purge()
    assert contents_of(place.database) == before
    place.change(RunWorker, alive_until=utc_now() - DAY)
    assert place.purge()["state"] == "done"


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


class Killed(BaseException):
    """The process is gone."""


def test_killed_before_any_table_it_goes_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Again and again, each time a table later; one entry has the whole of it."""
    with place.database.read() as db:
        figures = asdict(purge.preview(db, place.order()))
    remove, left = belongings.remove, 0

    def die_after_some(*given: Any) -> int:
        nonlocal left
        if not left:
            raise Killed
        left -= 1
        return remove(*given)

    monkeypatch.setattr(belongings, "remove", die_after_some)
    for tables in range(len(belongings.ROWS)):
        left = tables
        with pytest.raises(Killed):
            place.purge()
    left = len(belongings.ROWS)
    details = place.purge()
    assert {name: details[name] for name in figures} == figures
    assert naming(place.database, GONE.canary) == {}


def test_prices_alone_are_something(place: Place) -> None:
    """A second purge takes them, when the first one left them."""
    place.purge(with_prices=False)
    assert place.purge()["listings"] == 3
    assert {row.listing_id for row in place.rows(Price)} <= {row.id for row in place.rows(Listing)}


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
