"""Leases kept alive from a thread of their own."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from crawler.runs.renewal import Renewal
from tests.unit.runs.queues import leased

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from crawler.leases.rows import Lease

LEASE_SECONDS = 0.06


class Store:
    """Says which leases are ours, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[set[int]] = []
        self.foreign: set[int] = set()
        self.errors = 0
        self.before: Callable[[], None] = lambda: None
        self.lost: list[set[int]] = []

    def renew(self, leases: Collection[Lease]) -> set[int]:
        """Those that are nobody else's."""
        self.asked.append({lease.id for lease in leases})
        self.before()
        if self.errors:
            self.errors -= 1
            raise OSError("the database is away")
        return {lease.id for lease in leases} - self.foreign

    def wait(self, condition: Callable[[], object]) -> None:
        """Until it is so."""
        until = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < until
            time.sleep(0.005)


@pytest.fixture
def store() -> Store:
    """Where all is ours."""
    return Store()


@pytest.fixture
def renewal(store: Store) -> Iterator[Renewal]:
    """One that is at work."""
    started = Renewal(store.renew, store.lost.append, LEASE_SECONDS)
    started.start()
    yield started
    started.close()


def test_what_is_kept_is_renewed_until_it_is_forgotten(store: Store, renewal: Renewal) -> None:
    """And the process says that it lives even where nothing is kept."""
    store.wait(lambda: set() in store.asked)
    renewal.keep([leased(1).lease, leased(2).lease])
    store.wait(lambda: {1, 2} in store.asked)
    renewal.forget([1])
    store.wait(lambda: store.asked[-1] == {2})
    assert not store.lost


def test_what_is_somebody_elses_is_told_once(store: Store, renewal: Renewal) -> None:
    """And not asked for again."""
    store.foreign = {2}
    renewal.keep([leased(1).lease, leased(2).lease])
    store.wait(lambda: store.lost)
    store.wait(lambda: store.asked[-1] == {1})
    assert store.lost == [{2}]


def test_a_database_that_is_away_for_a_moment_costs_nothing(store: Store, renewal: Renewal) -> None:
    """There are two more tries within a lease."""
    store.errors = 2
    renewal.keep([leased(1).lease])
    store.wait(lambda: len(store.asked) > 4 and not store.errors)
    assert store.asked[-1] == {1}
    assert not store.lost


def test_what_ends_while_it_is_renewed_is_not_lost(store: Store, renewal: Renewal) -> None:
    """Nobody waits for it any more."""
    asked, go_on = threading.Event(), threading.Event()

    def hold_up() -> None:
        if 1 in store.asked[-1]:
            asked.set()
            go_on.wait(10)

    store.foreign, store.before = {1}, hold_up
    renewal.keep([leased(1).lease])
    assert asked.wait(10)
    renewal.forget([1])
    go_on.set()
    count = len(store.asked)
    store.wait(lambda: len(store.asked) > count)
    assert not store.lost


def test_one_that_was_never_started_can_be_closed(store: Store) -> None:
    """As when a run could not be opened."""
    Renewal(store.renew, store.lost.append, LEASE_SECONDS).close()
