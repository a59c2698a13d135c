"""What every domain gate does, whatever keeps its locks."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING
from uuid import uuid4

from attrs import evolve

from crawler.access.gate import MIN_DELAY, Busy, Held, Release
from crawler.access.process import holder_of, is_own, new_token
from tests.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from crawler.access.gate import Gate
    from tests.contract.gate.conftest import MakeGate

DOMAIN = "example.com"
SESSION = str(uuid4())
OTHER_SESSION = str(uuid4())
SHORT_MS = 60


def taken(gate: Gate, session_id: str = SESSION, domain: str = DOMAIN) -> Held:
    """The lock, which must be free."""
    answer = gate.acquire(domain, session_id)
    assert isinstance(answer, Held)
    return answer


def outlived(gate: Gate) -> Held:
    """A lock of a gate with `SHORT_MS` that has run out."""
    held = taken(gate)
    time.sleep(SHORT_MS * 2 / 1000)
    return held


def test_free_domain_is_taken(gate: Gate) -> None:
    """The holder's value is its own, names its session, and there is nothing to wait for."""
    held = taken(gate)
    assert (held.domain, held.session_id, held.wait_ms) == (DOMAIN, SESSION, 0)
    assert is_own(held.token)
    holder = holder_of(held.token)
    assert holder is not None
    assert holder.session_id == SESSION


def test_held_domain_is_busy(gate: Gate, make_gate: MakeGate) -> None:
    """Another process learns who holds it and for how long at most; the same session holds it once."""
    held = taken(gate)
    for answer in (make_gate().acquire(DOMAIN, OTHER_SESSION), gate.acquire(DOMAIN, SESSION)):
        assert isinstance(answer, Busy)
        assert (answer.domain, answer.value) == (DOMAIN, held.token)
        assert 25_000 < answer.expires_in_ms <= 30_000


def test_repeated_call_is_no_conflict(gate: Gate) -> None:
    """A call whose answer got lost is made again with its token, and finds the lock its own."""
    first = gate.acquire(DOMAIN, SESSION, new_token(SESSION))
    assert isinstance(first, Held)
    assert gate.acquire(DOMAIN, SESSION, first.token) == first
    assert isinstance(gate.acquire(DOMAIN, SESSION, new_token(SESSION)), Busy)


def test_domains_are_apart(gate: Gate) -> None:
    """A lock, an end and a delay bear on their own domain alone."""
    gate.release(taken(gate))
    gate.ask_delay(DOMAIN, 100, "retry_after")
    assert taken(gate, domain="other.example").wait_ms == 0
    assert taken(gate, domain="example.com:8443").wait_ms == 0
    assert taken(gate, domain="[2001:db8::1]").wait_ms == 0


def test_one_of_many_takes_it(make_gate: MakeGate) -> None:
    """Eight that come at the same moment, ten times: one holder, seven that see its value."""
    gates = [make_gate() for _ in range(8)]
    together = Barrier(len(gates))

    def acquire(gate: Gate) -> Held | Busy:
        together.wait(PATIENCE_SECONDS)
        return gate.acquire(DOMAIN, str(uuid4()))

    with ThreadPoolExecutor(len(gates)) as pool:
        for _ in range(10):
            answers = list(pool.map(acquire, gates))
            [holder] = [answer for answer in answers if isinstance(answer, Held)]
            assert {answer.value for answer in answers if isinstance(answer, Busy)} == {holder.token}
            assert gates[0].release(holder) is Release.RELEASED


def test_expired_lock_is_free(make_gate: MakeGate) -> None:
    """Without renewal a lock lasts as long as its time to live."""
    outlived(make_gate(lock_ttl_ms=SHORT_MS))
    taken(make_gate(), OTHER_SESSION)


def test_extending_gives_the_full_time_again(make_gate: MakeGate) -> None:
    """A renewal with the operator's times sets them anew."""
    held = taken(make_gate(lock_ttl_ms=5_000))
    gate = make_gate(lock_ttl_ms=30_000)
    assert gate.extend(held)
    assert gate.state(DOMAIN).expires_in_ms > 25_000


def test_expired_lock_is_not_extended(make_gate: MakeGate) -> None:
    """What has run out is lost, even if nobody else took it."""
    gate = make_gate(lock_ttl_ms=SHORT_MS)
    assert not gate.extend(outlived(gate))


def test_foreign_lock_is_neither_extended_nor_freed(make_gate: MakeGate) -> None:
    """A late holder changes nothing for the present one."""
    gate = make_gate(lock_ttl_ms=SHORT_MS)
    late = outlived(gate)
    present = taken(make_gate(), OTHER_SESSION)
    before = gate.state(DOMAIN)
    assert not gate.extend(late)
    assert gate.release(late) is Release.FOREIGN
    after = gate.state(DOMAIN)
    assert after.value == before.value == present.token
    assert after.expires_in_ms > 20_000


def test_value_is_compared_whole(gate: Gate) -> None:
    """Neither the same session nor the same beginning makes a lock ours."""
    held = taken(gate)
    for token in (held.token[:-1], held.token + "0", held.token.upper(), ""):
        assert not gate.extend(evolve(held, token=token))
        assert gate.release(evolve(held, token=token)) is Release.FOREIGN
    assert gate.release(held) is Release.RELEASED


def test_released_domain_is_free(gate: Gate) -> None:
    """The next session gets it, and finds how long the delay still lasts."""
    assert gate.release(taken(gate)) is Release.RELEASED
    held = taken(gate, OTHER_SESSION)
    assert 15_000 < held.wait_ms <= 20_000
    assert held.wait_reason == MIN_DELAY


def test_releasing_an_expired_lock(make_gate: MakeGate) -> None:
    """It is told apart, and the end still counts: the site was visited until now."""
    gate = make_gate(lock_ttl_ms=SHORT_MS)
    assert gate.release(outlived(gate)) is Release.EXPIRED
    assert gate.state(DOMAIN).throttled_for_ms > 15_000


def test_delay_ends(make_gate: MakeGate) -> None:
    """Once the least delay is over nobody waits."""
    gate = make_gate(min_delay_ms=SHORT_MS)
    gate.release(taken(gate))
    time.sleep(SHORT_MS * 2 / 1000)
    assert taken(gate, OTHER_SESSION).wait_ms == 0


def test_without_stamps_nobody_waits(make_gate: MakeGate) -> None:
    """With DISABLE_THROTTLE neither start, nor life, nor end of a session is noted."""
    gate = make_gate(stamps=False)
    held = taken(gate)
    assert gate.extend(held)
    gate.release(held)
    assert taken(make_gate(), OTHER_SESSION).wait_ms == 0


APART_SECONDS = 0.2  # a start and a later stamp; a clock's slack is a tenth of it


def assert_counts_from(stamp: float, gate: Gate) -> None:
    """Who comes next waits for the least delay from that moment, and not from one before it."""
    held = taken(gate, OTHER_SESSION)
    since_ms = (time.monotonic() - stamp) * 1000
    assert 20_000 - since_ms - APART_SECONDS * 100 < held.wait_ms <= 20_000
    assert held.wait_reason == MIN_DELAY


def test_delay_counts_from_the_start_of_who_never_ended(make_gate: MakeGate) -> None:
    """A session that was killed, and whose lock has run out, is waited for from its start."""
    start = time.monotonic()
    outlived(make_gate(lock_ttl_ms=SHORT_MS))
    assert_counts_from(start, make_gate())


def test_delay_counts_from_the_last_sign_of_life(make_gate: MakeGate) -> None:
    """Each renewal is one."""
    held = taken(make_gate())
    time.sleep(APART_SECONDS)
    renewal = time.monotonic()
    assert make_gate(lock_ttl_ms=SHORT_MS).extend(held)
    time.sleep(SHORT_MS * 2 / 1000)
    assert_counts_from(renewal, make_gate())


def test_end_counts_more_than_the_start(gate: Gate) -> None:
    """What is left counts from the end, however long the session was."""
    held = taken(gate)
    time.sleep(APART_SECONDS)
    end = time.monotonic()
    gate.release(held)
    assert_counts_from(end, gate)


def test_session_that_does_not_wait_starts_at_once(gate: Gate, make_gate: MakeGate) -> None:
    """In debug mode: it has the lock, its start is noted, and it keeps nobody waiting with it."""
    gate.release(taken(gate))
    held = gate.acquire(DOMAIN, SESSION, waits=False)
    assert isinstance(held, Held)
    assert held.wait_ms == 0
    busy = make_gate().acquire(DOMAIN, OTHER_SESSION)
    assert isinstance(busy, Busy)
    assert busy.wait_ms == 0


def waiting_holder(gate: Gate) -> Held:
    """A lock whose holder waits the least delay out."""
    gate.release(taken(gate))
    held = taken(gate)
    assert held.wait_ms > 15_000
    return held


def test_others_learn_that_a_holder_only_waits(gate: Gate, make_gate: MakeGate) -> None:
    """And for how long, and why; a renewal changes nothing about it."""
    held = waiting_holder(gate)
    assert gate.extend(held)
    busy = make_gate().acquire(DOMAIN, OTHER_SESSION)
    assert isinstance(busy, Busy)
    assert 15_000 < busy.wait_ms <= held.wait_ms
    assert busy.wait_reason == MIN_DELAY
    state = gate.state(DOMAIN)
    assert state.value == held.token
    assert 15_000 < state.throttled_for_ms <= held.wait_ms


def test_holder_that_has_begun_does_not_wait(make_gate: MakeGate) -> None:
    """Neither one that had nothing to wait for, nor one whose wait is over and that looked at its lock."""
    gate = make_gate(min_delay_ms=SHORT_MS)
    for _ in range(2):
        held = taken(gate)
        time.sleep(held.wait_ms / 1000)
        assert gate.extend(held)
        busy = gate.acquire(DOMAIN, OTHER_SESSION)
        assert isinstance(busy, Busy)
        assert busy.wait_ms == 0
        gate.release(held)


def test_repeated_call_waits_for_what_is_left(gate: Gate) -> None:
    """A call whose answer got lost is made again, and does not make the wait any longer."""
    gate.release(taken(gate))
    first = gate.acquire(DOMAIN, SESSION, new_token(SESSION))
    assert isinstance(first, Held)
    time.sleep(0.1)
    again = gate.acquire(DOMAIN, SESSION, first.token)
    assert isinstance(again, Held)
    assert 15_000 < again.wait_ms <= first.wait_ms - 100


def test_late_release_of_another_does_not_end_a_wait(make_gate: MakeGate) -> None:
    """The holder waits on, and so do the others."""
    gate = make_gate(lock_ttl_ms=SHORT_MS)
    late = outlived(gate)
    assert taken(make_gate(), OTHER_SESSION).wait_ms > 15_000
    assert gate.release(late) is Release.FOREIGN
    assert gate.state(DOMAIN).throttled_for_ms > 15_000


def test_holder_that_gives_up_waiting_was_there(gate: Gate) -> None:
    """Its start is void; who comes next waits for the least delay at most."""
    gate.ask_delay(DOMAIN, 60, "retry_after")
    gate.release(taken(gate))
    state = gate.state(DOMAIN)
    assert 15_000 < state.throttled_for_ms <= 20_000


def test_site_asks_for_a_longer_delay(gate: Gate) -> None:
    """The holder waits for the longer of the two delays, and knows why; others learn the same."""
    gate.release(taken(gate))
    gate.ask_delay(DOMAIN, 120, "retry_after")
    gate.ask_delay(DOMAIN, 40, "crawl_delay")  # a delay is never shortened
    held = taken(gate, OTHER_SESSION)
    assert 115_000 < held.wait_ms <= 120_000
    assert held.wait_reason == "retry_after"
    state = gate.state(DOMAIN)
    assert 115_000 < state.delayed_for_ms <= 120_000
    assert state.delay_reason == "retry_after"
    busy = gate.acquire(DOMAIN, SESSION)
    assert isinstance(busy, Busy)
    assert 110_000 < busy.wait_ms <= held.wait_ms
    assert busy.wait_reason == "retry_after"


def test_a_delay_has_a_most_and_a_least(gate: Gate) -> None:
    """DOMAIN_MAX_DELAY_SECONDS holds, however long a site would like us to stay away; zero is no delay."""
    gate.ask_delay(DOMAIN, 0, "retry_after")
    gate.ask_delay(DOMAIN, -5, "retry_after")
    assert gate.states() == []
    gate.ask_delay(DOMAIN, 10**9, "retry_after")
    assert 295_000 < gate.state(DOMAIN).delayed_for_ms <= 300_000


def test_entries_are_what_is_held_or_delayed(gate: Gate) -> None:
    """By name, with the lock, the throttle and the delay of each."""
    held = taken(gate, domain="held.example")
    gate.release(taken(gate, domain="ended.example"))
    gate.ask_delay("delayed.example", 100, "crawl_delay")
    assert gate.state("unknown.example").value is None  # asking leaves nothing behind
    delayed, ended, holding = gate.states()
    assert (delayed.domain, ended.domain, holding.domain) == (
        "delayed.example",
        "ended.example",
        "held.example",
    )
    assert (delayed.value, delayed.throttled_for_ms, delayed.delay_reason) == (None, 0, "crawl_delay")
    assert ended.value is None
    assert 15_000 < ended.throttled_for_ms <= 20_000
    assert (holding.value, holding.throttled_for_ms, holding.delayed_for_ms) == (held.token, 0, 0)


def test_operator_breaks_a_lock(gate: Gate, make_gate: MakeGate) -> None:
    """The lock that was shown is freed; its holder finds it gone, and the delay starts."""
    held = taken(make_gate())
    assert not gate.break_lock(DOMAIN, held.token + "0")
    assert gate.break_lock(DOMAIN, held.token)
    assert not gate.extend(held)
    assert gate.release(held) is Release.EXPIRED
    assert taken(gate, OTHER_SESSION).wait_ms > 15_000


def test_whoever_holds_a_lock_that_is_broken_hears_of_it_first(make_gate: MakeGate) -> None:
    """Nobody enters before a living holder's next renewal; who has stopped renewing is not waited for."""
    gate = make_gate(lock_ttl_ms=12_000, min_delay_ms=10)
    held = taken(gate)
    assert gate.break_lock(DOMAIN, held.token)
    successor = taken(gate, OTHER_SESSION)
    assert 4_000 < successor.wait_ms <= 5_000
    assert successor.wait_reason == "lock_broken"
    gate = make_gate(lock_ttl_ms=12_000, min_delay_ms=10)
    silent = make_gate(lock_ttl_ms=5_000).acquire("silent.example", SESSION)
    assert isinstance(silent, Held)
    assert gate.break_lock("silent.example", silent.token)
    assert gate.state("silent.example").delayed_for_ms == 0


def test_a_late_release_leaves_the_next_holder_alone(gate: Gate) -> None:
    """However often it is sent; and what an operator saw is broken only while it is there."""
    first = taken(gate)
    gate.release(first)
    second = taken(gate, OTHER_SESSION)
    gate.release(first)
    gate.release(first)
    assert not gate.break_lock(DOMAIN, first.token)
    assert gate.state(DOMAIN).value == second.token
