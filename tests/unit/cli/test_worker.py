"""`vitrine worker` says how it ended: by itself, or since somebody said stop."""

from __future__ import annotations

from contextlib import nullcontext
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.cli import worker as command
from crawler.db.engine import DatabaseUnavailableError

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine


class Worker:
    """Works on nothing; remembers how it was started."""

    started: list[dict[str, Any]] = []  # ruff: ignore[mutable-class-default] - each test has its own
    stops = False
    error: Exception | None = None

    def __init__(self, *_: object) -> None:
        self.stopping = Event()

    def run(self, **how: Any) -> None:
        """Come to its end at once."""
        self.started.append(how)
        if self.error:
            raise self.error
        if self.stops:
            self.stopping.set()


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - no test here crawls
def stood_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """No store, and a worker that does nothing."""
    monkeypatch.setattr(Worker, "started", [])
    monkeypatch.setattr(Worker, "stops", False)
    monkeypatch.setattr(Worker, "error", None)
    monkeypatch.setattr(command, "Worker", Worker)
    stores = SimpleNamespace(database=None, blobs=None)
    monkeypatch.setattr(command, "opened", lambda _settings: nullcontext(stores))


@pytest.mark.parametrize(("stops", "once", "code"), [(False, True, 0), (True, True, 130), (True, False, 0)])
def test_how_it_ended(vitrine: Vitrine, *, stops: bool, once: bool, code: int) -> None:
    """One that works until it is stopped has done what it was to do; a job that was put back is not."""
    Worker.stops = stops
    done = vitrine("worker", *(["--once"] if once else []))
    assert (done.code, done.out, "put back" in done.err) == (code, "", stops)
    assert Worker.started == [{"poll_interval": 30.0, "once": once}]


@pytest.mark.parametrize("given", ["0", "-1", "nan", "3601", "soon"])
def test_a_worker_that_never_rests_or_never_looks_is_refused(vitrine: Vitrine, given: str) -> None:
    """Before anything is opened."""
    assert vitrine("worker", "--poll-interval", given).code == 2
    assert Worker.started == []


def test_what_fails_is_one_line(vitrine: Vitrine) -> None:
    """And no traceback."""
    Worker.error = DatabaseUnavailableError("the database is away")
    done = vitrine("worker", "--once")
    assert (done.code, done.out) == (1, "")
    assert "the database is away" in done.err
    assert "Traceback" not in done.err
