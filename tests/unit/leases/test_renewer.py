"""The renewer renews, notices a loss once, and is stopped by nothing that others do."""

from __future__ import annotations

import threading
import time
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

import pytest

from crawler.capture.failures import Cause
from crawler.leases.renewer import Renewer
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    Make = Callable[..., Renewer[str]]

LASTS = 1.0  # a thread that gets no turn for a while must lose nothing
OURS, GONE, AWAY = True, False, OSError("away")  # what may be answered


class Store:
    """Says what is ours, and remembers what it was asked."""

    def __init__(self, *answers: bool | Exception) -> None:
        self.answers = list(answers) or [OURS]  # taken one by one, the last one again and again
        self.asked: Queue[list[str]] = Queue()
        self.calls: list[list[str]] = []
        self.foreign: set[str] = set()

    def renew(self, things: list[str]) -> list[str]:
        """The next answer."""
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.calls.append(things)
        self.asked.put(things)
        if isinstance(answer, Exception):
            raise answer
        return [thing for thing in things if answer and thing not in self.foreign]

    def wait(self, things: Iterable[str]) -> None:
        """Until it is asked for exactly these; the test fails if that takes too long."""
        until = time.monotonic() + 60
        while self.asked.get(timeout=60) != list(things):
            assert time.monotonic() < until


class Losses:
    """What was told of losses."""

    def __init__(self) -> None:
        self.told: Queue[tuple[str, Cause]] = Queue()

    def hear(self, thing: str, why: Cause) -> None:
        """Note a loss."""
        self.told.put((thing, why))

    def next(self) -> tuple[str, Cause]:
        """The next loss; the test fails if there is none soon."""
        return self.told.get(timeout=60)

    def none_for(self, seconds: float) -> bool:
        """Whether nothing is lost for that long."""
        try:
            self.told.get(timeout=seconds)
        except Empty:
            return True
        return False


@pytest.fixture
def losses() -> Losses:
    """A listener."""
    return Losses()


@pytest.fixture
def make(losses: Losses) -> Generator[Make]:
    """Makes renewers and closes them."""
    made: list[Renewer[str]] = []

    def renewer(store: Store, *, lasts: float = LASTS, **options: Any) -> Renewer[str]:
        made.append(Renewer("test", store.renew, losses.hear, lasts=lasts, **options))
        return made[-1]

    yield renewer
    for each in made:
        each.close()


both_ways = pytest.mark.parametrize("one_by_one", [True, False], ids=["one by one", "together"])


def test_it_renews_several_times_while_a_renewal_lasts(make: Make, losses: Losses) -> None:
    """What is confirmed is ours for as long as it is wanted."""
    store = Store()
    make(store, one_by_one=True).keep(["a"])
    assert losses.none_for(LASTS * 2)
    assert 3 <= store.calls.count(["a"]) <= 7


def test_a_sign_of_life_needs_nothing_that_is_kept(make: Make) -> None:
    """The first is given at once, however long a renewal lasts."""
    store = Store()
    make(store, lasts=300).start()
    store.wait(())
    quick = Store()
    make(quick).start()
    for _ in range(3):
        quick.wait(())


def test_what_was_kept_too_late_is_renewed_at_once(make: Make, losses: Losses) -> None:
    """A process that was stopped between taking a thing and keeping it learns at once that it is gone."""
    renewer = make(Store(GONE), lasts=300, one_by_one=True)
    renewer.start()
    renewer.keep(["a"], since=time.monotonic() - 400)
    assert losses.next() == ("a", Cause.LOCK_LOST)


@both_ways
def test_a_loss_is_told_once(make: Make, losses: Losses, *, one_by_one: bool) -> None:
    """The first refusal ends it: the others are renewed, and it is not."""
    store = Store()
    store.foreign = {"a"}
    make(store, one_by_one=one_by_one).keep("ab")
    assert losses.next() == ("a", Cause.LOCK_LOST)
    calls = len(store.calls)
    assert losses.none_for(LASTS)
    assert set(map(tuple, store.calls[calls + 1 :])) == {("b",)}


@both_ways
def test_what_ends_while_it_is_renewed_is_not_lost(make: Make, losses: Losses, *, one_by_one: bool) -> None:
    """A renewal that meets the release on its way finds nothing, which is as it should be."""
    asked, go_on = threading.Event(), threading.Event()

    class SlowStore(Store):
        def renew(self, things: list[str]) -> list[str]:
            if things:
                asked.set()
                go_on.wait(PATIENCE_SECONDS)
            return []

    renewer = make(SlowStore(), one_by_one=one_by_one)
    renewer.keep("a")
    assert asked.wait(PATIENCE_SECONDS)
    renewer.forget("a")
    go_on.set()
    assert losses.none_for(LASTS)


def test_what_is_kept_anew_while_it_is_renewed_is_not_lost(make: Make, losses: Losses) -> None:
    """A lock that was lost and taken again is another one."""
    asked, go_on = threading.Event(), threading.Event()

    class SlowStore(Store):
        def renew(self, things: list[str]) -> list[str]:
            asked.set()
            go_on.wait(PATIENCE_SECONDS)
            return super().renew(things)

    renewer = make(SlowStore(GONE, OURS), one_by_one=True)
    renewer.keep("a")
    assert asked.wait(PATIENCE_SECONDS)
    renewer.forget("a")
    renewer.keep("a")
    go_on.set()
    assert losses.none_for(LASTS * 2)


def test_what_takes_too_long_is_lost(make: Make, losses: Losses) -> None:
    """However well it is renewed, and although nothing is due."""
    renewer = make(Store(), lasts=300)
    renewer.keep("a", ends_at=time.monotonic() + 0.1)
    renewer.keep("b")
    assert losses.next() == ("a", Cause.TOO_LONG)
    assert losses.none_for(LASTS)


def test_a_short_absence_is_tolerated(make: Make, losses: Losses) -> None:
    """Two unanswered calls while a renewal lasts cost nothing."""
    store = Store(AWAY, AWAY, OURS)
    make(store, lasts=1.5).keep("a")
    assert losses.none_for(2)
    assert len(store.calls) > 3


@both_ways
def test_a_long_absence_is_a_loss(make: Make, losses: Losses, *, one_by_one: bool) -> None:
    """When the last renewal has run out and nobody could be asked."""
    began = time.monotonic()
    make(Store(AWAY), one_by_one=one_by_one).keep("a")
    assert losses.next() == ("a", Cause.LOCK_LOST)
    assert LASTS <= time.monotonic() - began < LASTS + PATIENCE_SECONDS


def test_what_does_not_run_out_is_not_lost_by_an_absence(make: Make, losses: Losses) -> None:
    """Only the store can say that somebody else has it."""
    store = Store(*[AWAY] * 20, GONE)
    make(store, runs_out=False).keep("a")
    assert losses.next() == ("a", Cause.LOCK_LOST)
    assert len(store.calls) >= 21


def test_who_is_away_is_asked_once_a_round(make: Make, losses: Losses) -> None:
    """A call that ran into its timeout is not repeated for each of many things."""
    calls = 0

    class SlowAbsence(Store):
        def renew(self, things: list[str]) -> list[str]:
            nonlocal calls
            calls += 1
            time.sleep(0.05)
            raise AWAY

    make(SlowAbsence(), lasts=0.3, one_by_one=True).keep(map(str, range(20)))
    assert len({losses.next()[0] for _ in range(20)}) == 20
    assert calls < 12


def test_one_that_always_fails_stands_in_nobodys_way(make: Make, losses: Losses) -> None:
    """Next time it is the others' turn first."""

    class BrokenStore(Store):
        def renew(self, things: list[str]) -> list[str]:
            if things == ["a"]:
                raise RuntimeError("never seen before")
            return things

    make(BrokenStore(), one_by_one=True).keep("abc")
    assert losses.next() == ("a", Cause.LOCK_LOST)
    assert losses.none_for(LASTS * 2)


def test_a_failure_is_logged_where_nobody_listens(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    """With the renewer's name."""
    store = Store(AWAY, OURS)
    make(store, runs_out=False).keep("ab")
    store.wait("ab")
    store.wait("ab")
    [record] = [each for each in caplog.records if each.getMessage() == "lease.renewal_failed"]
    assert record.__dict__["fields"] == {"renewer": "test", "count": 2, "error": "away"}


def test_who_does_not_hear_of_a_loss_stops_nothing() -> None:
    """A listener that raises costs the others nothing."""
    store = Store()
    store.foreign = {"a"}

    def refuse(_thing: str, _why: Cause) -> None:
        raise RuntimeError("no")

    renewer = Renewer("test", store.renew, refuse, lasts=LASTS)
    renewer.keep("ab")
    store.wait("ab")
    store.wait("b")
    renewer.close()


def test_closing_from_a_listener_does_not_hang() -> None:
    """A process may decide to stop when it hears of a loss."""
    closed = threading.Event()

    def close(_thing: str, _why: Cause) -> None:
        renewer.close()
        closed.set()

    renewer = Renewer("test", Store(GONE).renew, close, lasts=LASTS)
    renewer.keep("a")
    assert closed.wait(PATIENCE_SECONDS)


def test_whether_it_is_ours_is_known_without_its_thread(make: Make) -> None:
    """By the date alone: a process that was stopped for long sees at once that it has lost what it held."""
    store = Store(OURS)
    renewer = make(store)
    now = time.monotonic()
    renewer.keep(["fresh"], since=now + 60)
    renewer.keep(["over"], since=now + 60, ends_at=now - 1)
    assert renewer.is_ours("fresh")
    assert not renewer.is_ours("over")
    assert not renewer.is_ours("never kept")
    renewer.forget(["fresh"])
    assert not renewer.is_ours("fresh")
