"""Batches: a URL file is worked through once, by one process at a time, and gone on with."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from crawler.capture.failures import Cause
from crawler.errors import LockedError
from crawler.sessions.batches import close_batch, open_batch, read_urls
from crawler.sessions.visit import ProductPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.sessions.conftest import Process

    ProcessOf = Callable[..., Process]

FILE = "/shops.txt"
SHORT, LONG = 30, 3000
TTL = timedelta(seconds=300)


def test_what_was_given_stands_beside_what_is_stored() -> None:
    """SPEC F160: one spelling, each page once, and the words of whoever asked."""
    lines = read_urls(["HTTPS://Shop.Example:443/p#top", "https://shop.example/p", "https://shop.example/q"])
    assert [(line.url, line.given) for line in lines] == [
        ("https://shop.example/p", "HTTPS://Shop.Example:443/p#top"),
        ("https://shop.example/q", "https://shop.example/q"),
    ]


def test_a_batch_is_gone_on_with_until_nothing_is_left(process_of: ProcessOf) -> None:
    """Taken up is what was put back, cut short or left by the dead; finished sessions stay as they are."""
    one, two, three = process_of(), process_of(), process_of()
    batch = open_batch(one.store, FILE)
    done, back, dead, cut = (one.begin(batch.id) for _ in range(4))
    never = one.queue(batch.id)
    done.pdp = ProductPage(missing=None)
    one.finish(done)
    one.put_back(back)
    cut.stop(Cause.INTERRUPTED)
    one.finish(cut)
    for session_id in (dead.fence.session_id, never):
        one.let_pass(session_id, 2 * TTL)
    two.store.abandon_stale()
    assert not close_batch(two.store, batch.id)
    again = open_batch(two.store, FILE)
    left = {session_id for session_id, _ in again.left}
    assert again.id == batch.id
    assert again.urls == {"https://shop.example/"}
    assert left == {back.fence.session_id, dead.fence.session_id, cut.fence.session_id, never}
    with pytest.raises(LockedError):
        open_batch(three.store, FILE)
    for session_id in left:
        visit = two.start(session_id)
        visit.pdp = ProductPage(missing=None)
        two.finish(visit)
    assert close_batch(two.store, batch.id)
    assert open_batch(three.store, FILE).id != batch.id


def test_a_batch_of_which_nothing_is_left_is_closed_by_the_next(process_of: ProcessOf) -> None:
    """Where the process that finished it could not do so any more."""
    process = process_of()
    batch = open_batch(process.store, FILE)
    process.finish(process.begin(batch.id))
    again = open_batch(process.store, FILE)
    assert again.id != batch.id
    assert (again.urls, again.left) == (frozenset(), ())


def test_whoever_finds_a_file_taken_hears_when_it_is_free(process_of: ProcessOf) -> None:
    """The time is that of the process which works through it, and of the last of its sessions."""
    first = process_of(SHORT)
    batch = open_batch(first.store, FILE)
    first.let_pass(first.queue(batch.id), timedelta(seconds=20))
    first.queue(batch.id)
    with pytest.raises(LockedError, match="another process is working through") as refused:
        open_batch(process_of(LONG).store, FILE)
    assert refused.value.hint in {f"if that process has died, its file is free in {s} s" for s in (29, 30)}


def test_a_file_is_gone_on_with_when_all_of_it_can_be_had(process_of: ProcessOf) -> None:
    """Not when its first session has run out: the others would be skipped, and nobody told."""
    dead, next_one = process_of(SHORT), process_of()
    batch = open_batch(dead.store, FILE)
    first, last = dead.queue(batch.id), dead.begin(batch.id).fence.session_id
    dead.let_pass(first, timedelta(seconds=2 * SHORT))
    with pytest.raises(LockedError, match="and has 1 of its sessions") as refused:
        open_batch(next_one.store, FILE)
    assert refused.value.hint in {f"if that process has died, its file is free in {s} s" for s in (29, 30)}
    assert dead.load(first).owner == dead.store.owner
    dead.let_pass(last, timedelta(seconds=2 * SHORT))
    next_one.store.abandon_stale()
    assert {session_id for session_id, _ in open_batch(next_one.store, FILE).left} == {first, last}
