"""A pass reads ahead while it writes, in order, and leaves nothing half done when a part of it fails."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from crawler.archive import passes
from crawler.archive.passes import is_crawled, run, taken
from crawler.clock import utc_now
from crawler.db.models import Run, RunWorker
from crawler.html.content import ContentQuestion
from crawler.html.parse import DEFAULT_MAX_BYTES
from tests.unit.archive.written import content
from tests.unit.views.rows import a_session

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.html.content import Content


@define
class Readers:
    """Reads in this process; a page that says `kill` kills its reader."""

    number: int | None = None
    closed: list[bool] = field(factory=list)

    async def contents(self, questions: Sequence[ContentQuestion]) -> list[Content | None]:
        """One answer for each question."""
        return [None if b"kill" in each.body else content(each.body.decode()) for each in questions]

    async def close(self) -> None:
        """Remember it."""
        self.closed.append(True)


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> Readers:
    """Instead of processes."""
    made = Readers()
    monkeypatch.setattr(passes, "Readers", lambda *_: made)
    monkeypatch.setattr(passes, "is_crawled", lambda _: False)
    return made


def passed(batches: Iterator[list[str]], write: Any) -> None:
    """A pass over texts; an empty one is no page. Pytest's own loop runs in this thread."""
    nowhere: Any = None

    def questions(batch: list[str]) -> list[ContentQuestion | None]:
        return [ContentQuestion(each.encode(), "u") if each else None for each in batch]

    with ThreadPoolExecutor(1) as thread:
        thread.submit(run, nowhere, batches, questions, write).result()


def test_each_batch_is_written_once_in_order(readers: Readers) -> None:
    """Each answer beside its question; what is no page has none, and who killed its reader a problem.

    No more is fetched than a batch ahead: what is held at once is bounded, however slow the database is.
    """
    fetched: list[list[str]] = []
    written: list[list[str | None]] = []

    def batches() -> Iterator[list[str]]:
        for batch in (["a", "", "b"], [], ["kill", "c"], [""], ["d"], ["e"]):
            fetched.append(batch)
            yield batch

    def write(batch: list[str], found: Sequence[Content | None]) -> None:
        assert len(fetched) <= len(written) + 3
        written.append([None if each is None else each.title or each.problem for each in found])

    passed(batches(), write)
    assert written == [["a", None, "b"], [], ["unreadable", "c"], [None], ["d"], ["e"]]
    assert readers.closed == [True]


@pytest.mark.parametrize("where", ["fetching", "writing", "asking"])
def test_a_part_that_fails_ends_the_pass(readers: Readers, where: str) -> None:
    """With its own error, its readers closed; what was written before stays, nothing comes after it."""
    written: list[str] = []

    def batches() -> Iterator[list[str]]:
        for n in range(9):
            if where == "fetching" and n == 2:
                raise OSError(where)
            yield ["\ud800" if where == "asking" and n == 2 else str(n)]

    def write(batch: list[str], _found: object) -> None:
        if where == "writing" and batch == ["2"]:
            raise OSError(where)
        written.append(batch[0])

    threshold = gc.get_threshold()
    with pytest.raises(Exception, match=f"{where}|surrogates|TaskGroup"):
        passed(batches(), write)
    assert written in (["0"], ["0", "1"])
    assert readers.closed == [True]
    assert gc.get_threshold() == threshold


def test_of_a_body_as_much_is_taken_as_a_page_may_have() -> None:
    """And a byte, by which one that is too long is known; the digest is that of all of it."""
    body = b"x" * (DEFAULT_MAX_BYTES + 100)
    kept, digest = taken(body[at : at + 65_536] for at in range(0, len(body), 65_536))
    assert len(kept) == DEFAULT_MAX_BYTES + 1
    assert digest == sha256(body).hexdigest()
    assert taken([]) == (b"", sha256().hexdigest())
    assert taken([b"a", b"", b"b"])[0] == b"ab"


@pytest.mark.parametrize(
    ("is_crawled", "processors", "expected"),
    [
        (True, "cpu  {0}0 0 0 20 0 0 0 0\ncpu0 1 2 3 4", [1.0, 3.0]),  # all of it was used
        (True, "cpu  {0}0 0 0 {0}0 0 0 0 0\ncpu0 1 2 3 4", [0.125, 1.0]),  # half of it was
        (False, "what another system says", []),
    ],
)
def test_a_pass_rests_while_something_is_crawled(
    readers: Readers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    *, is_crawled: bool, processors: str, expected: list[float],
) -> None:  # fmt: skip
    """Some times as long as it wrote, but not for ever; where processors have time left as long."""
    rests: list[float] = []
    clock, ticks, said = iter([0.0, 0.125, 1.0, 2.0]), count(1), tmp_path / "stat"

    def now() -> float:
        said.write_text(processors.format(next(ticks)), encoding="ascii")
        return next(clock)

    monkeypatch.setattr(passes, "PROCESSORS", said)
    monkeypatch.setattr(passes, "time", SimpleNamespace(sleep=rests.append, monotonic=now))
    monkeypatch.setattr(passes, "is_crawled", lambda _: is_crawled)
    passed(iter([["a"], ["b"]]), lambda _, __: None)
    assert rests == expected
    assert readers.closed == [True]


@pytest.mark.parametrize(("seconds", "crawled"), [(60, True), (-60, False)])
@pytest.mark.parametrize("what", ["a visit", "a run"])
def test_who_lives_is_seen(database: Database, what: str, seconds: int, *, crawled: bool) -> None:
    """Until the time by which it would have shown a sign of life; a visit that is over is none."""
    until = utc_now() + timedelta(seconds=seconds)
    with database.write() as db:
        db.add(a_session(status="completed", alive_until=utc_now() + timedelta(minutes=1)))
    assert not is_crawled(database)
    with database.write() as db:
        if what == "a visit":
            db.add(a_session(status="running", owner="worker", alive_until=until))
        else:
            run = Run(source="shop.example", plan={}, created_at=utc_now())
            db.add(run)
            db.flush()
            db.add(RunWorker(run_id=run.id, owner="worker", alive_until=until))
    assert is_crawled(database) is crawled
