"""The cleanup against a model: whatever lies in the store, whoever dies where, and whoever else cleans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import field, frozen, mutable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from crawler.clock import utc_now
from crawler.db.models import Artifact
from crawler.retention.cleanup import CleanupOrder, Part, clean_up
from tests.integration.retention.fate import Crash, Fate, FatefulDatabase, FatefulStore
from tests.unit.retention.stored import DAY, PACKED, Evidence, new_evidence, row

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from uuid import UUID

    from crawler.retention.plan import CleanupResult

CASES = 30
MANY_CASES = 2000
FILES = ("a/html.gz", "b/html.gz", "b/second.gz", "c/d/html.gz")
UNSAFE = ("../victim.txt",)  # test_cleanup has more
MISSING = ("missing.gz", "no/such/folder.gz")


@frozen
class Item:
    """An artifact as the case wants it."""

    uri: str
    expired: bool
    held: bool
    html: bool
    attempts: int
    rested: bool


@frozen
class Step:
    """A pass, and what happens in the middle of it; or time that goes by."""

    batch_size: int
    at: int  # the step of the pass at which it happens
    what: str  # nothing, death, a second cleaner, time


items = st.builds(
    Item,
    uri=st.sampled_from(FILES + FILES + MISSING + UNSAFE),
    expired=st.integers(0, 3).map(bool),
    held=st.integers(0, 4).map(lambda number: number == 0),
    html=st.integers(0, 5).map(bool),
    attempts=st.sampled_from([0, 0, 0, 1, 5]),
    rested=st.booleans(),
)
steps = st.builds(
    Step,
    batch_size=st.integers(1, 6),
    at=st.integers(1, 25),
    what=st.sampled_from(["nothing", "death", "death", "second cleaner", "time"]),
)


@mutable
class Model:
    """What is in the store, and what may become of it."""

    evidence: Evidence
    database: FatefulDatabase
    items: list[Item]
    ids: list[UUID] = field(factory=list)

    def lay_out(self) -> None:
        """Files, traps and rows."""
        with self.database.write() as db:
            db.execute(delete(Artifact))
        for uri in FILES:
            self.evidence.write(uri)
        if self.items:
            self.ids = self.evidence.add_rows(self._row(item) for item in self.items)

    def _row(self, item: Item) -> dict[str, object]:
        now = utc_now()
        columns = row(self.evidence.session_id, item.uri, now + (-DAY if item.expired else DAY))
        columns |= {"legal_hold": item.held, "cleanup_attempts": item.attempts}
        columns["cleanup_next"] = (now + (-DAY if item.rested else DAY)) if item.attempts else None
        if not item.html:
            columns |= {"type": "features_json", "retention_until": None}
        return columns

    def may_go(self, artifact: Artifact) -> bool:
        """Whether policy lets a cleaner take a row, whoever is at it."""
        now = utc_now()
        return bool(
            artifact.type == "html_gz"
            and artifact.retention_until
            and artifact.retention_until < now
            and not artifact.legal_hold
            and (artifact.cleanup_next is None or artifact.cleanup_next <= now)
        )


def run(model: Model, step: Step, fate: Fate) -> CleanupResult | None:
    """One pass, None if it died."""
    model.database.fate = fate
    try:
        order = CleanupOrder(batch_size=step.batch_size, only=Part.ARTIFACTS)
        return clean_up(model.database, FatefulStore(model.evidence.root, fate), order)
    except Crash:
        return None
    finally:
        model.database.fate = Fate()


def fate_of(model: Model, step: Step, others: list[CleanupResult]) -> Fate:
    """What happens in the middle of the pass."""

    def second_cleaner() -> None:
        before, model.database.fate = model.database.fate, Fate()
        order = CleanupOrder(batch_size=step.batch_size, only=Part.ARTIFACTS)
        others.append(clean_up(model.database, model.evidence.blobs, order))
        model.database.fate = before

    events = {"death": None, "second cleaner": second_cleaner}
    return Fate(step.at, events[step.what]) if step.what in events else Fate()


def take_step(model: Model, step: Step) -> None:
    """Run, and hold what happened against the policy."""
    if step.what == "time":
        model.evidence.let_leases_run_out()
        model.evidence.let_pauses_end()
        return
    files, rows = model.evidence.files(), model.evidence.rows()
    others: list[CleanupResult] = []
    result = run(model, step, fate_of(model, step, others))
    after = model.evidence.rows()
    marked = {key for key, found in after.items() if found.deleted_at and not rows[key].deleted_at}
    gone = files - model.evidence.files()
    check_what_went(model, rows, marked, gone)
    if result:
        check_figures([result, *others], rows, after, marked, gone)
    check_no_leftovers(model, after)


def check_what_went(model: Model, rows: dict[UUID, Artifact], marked: set[UUID], gone: set[str]) -> None:
    """Only rows that may go are marked; only files that nobody else needs are gone."""
    assert all(model.may_go(rows[key]) for key in marked)
    for found in rows.values():
        if found.storage_uri in gone and not found.deleted_at:
            assert model.may_go(found)


def check_figures(
    results: list[CleanupResult],
    rows: dict[UUID, Artifact],
    after: dict[UUID, Artifact],
    marked: set[UUID],
    gone: set[str],
) -> None:
    """The cleaners' figures add up to what happened."""
    failed = {key for key, found in after.items() if found.cleanup_attempts > rows[key].cleanup_attempts}
    assert sum(result.deleted for result in results) == len(marked)
    assert sum(result.failed for result in results) == len(failed)
    assert sum(result.candidates for result in results) == len(marked) + len(failed)
    assert sum(result.reclaimed_bytes for result in results) == len(gone) * len(PACKED.data)
    due = [
        found
        for found in after.values()
        if found.type == "html_gz"
        and not (found.deleted_at or found.legal_hold)
        and found.retention_until
        and found.retention_until < utc_now()
    ]
    assert results[0].remaining == len(due)
    assert not any(found.cleanup_claim for key, found in after.items() if not rows[key].cleanup_claim)


def check_no_leftovers(model: Model, after: dict[UUID, Artifact]) -> None:
    """A file whose rows are all marked is gone."""
    named = {found.storage_uri for found in after.values()}
    needed = {found.storage_uri for found in after.values() if not found.deleted_at}
    assert not (model.evidence.files() & (named - needed))


def check_recovered(model: Model) -> None:
    """After time has gone by, a few passes leave exactly what must stay."""
    for _ in range(2):
        model.evidence.let_leases_run_out()
        model.evidence.let_pauses_end()
        run(model, Step(100, 0, "nothing"), Fate())
    after = model.evidence.rows()
    for item, key in zip(model.items, model.ids, strict=True):
        if item.expired and item.html and not item.held:
            assert after[key].deleted_at or item.uri in UNSAFE
        else:
            assert after[key].deleted_at is None
            assert item.uri in {*MISSING, *UNSAFE, *model.evidence.files()}
    assert not any(found.cleanup_claim for found in after.values())


@pytest.fixture
def fateful(database_url: str) -> Generator[FatefulDatabase]:
    """A database whose cleaner may die."""
    opened = FatefulDatabase(database_url)
    yield opened
    opened.close()


def torture(fateful: FatefulDatabase, folder: Path, cases: int) -> None:
    """So many stores, and up to three passes over each."""
    evidence = new_evidence(fateful, folder / "inside" / "artifacts")

    @settings(max_examples=cases, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.lists(items, max_size=10), st.lists(steps, min_size=1, max_size=3))
    def check(laid: list[Item], taken: list[Step]) -> None:
        model = Model(evidence, fateful, laid)
        model.lay_out()
        for step in taken:
            take_step(model, step)
        check_recovered(model)

    check()


def test_cleanup_keeps_to_the_model(fateful: FatefulDatabase, tmp_path: Path) -> None:
    """No unexpired, held or shared file goes; the figures add up; all heals."""
    torture(fateful, tmp_path, CASES)


@pytest.mark.soak(minutes=60)
def test_cleanup_keeps_to_the_model_for_long(fateful: FatefulDatabase, tmp_path: Path) -> None:
    """The same, with many more."""
    torture(fateful, tmp_path, MANY_CASES)


def test_every_step_is_a_place_to_die(fateful: FatefulDatabase, tmp_path: Path) -> None:
    """A pass over evidence with all kinds of rows is killed at its first step, its second, and so on."""
    evidence = new_evidence(fateful, tmp_path / "inside" / "artifacts")
    laid = [
        Item(uri, expired=True, held=False, html=True, attempts=0, rested=True)
        for uri in (*FILES, FILES[0], MISSING[0], UNSAFE[0])
    ]
    laid.append(Item(FILES[1], expired=False, held=False, html=True, attempts=0, rested=True))
    deaths = 0
    while True:
        model = Model(evidence, fateful, laid)
        model.lay_out()
        step = Step(batch_size=10, at=deaths + 1, what="death")
        fate = fate_of(model, step, [])
        died = run(model, step, fate) is None
        check_no_leftovers(model, evidence.rows())
        check_recovered(model)
        if not died:
            break
        deaths += 1
    assert deaths >= 2 * 5 + 3 * 4  # around each removal, and around each transaction
