"""Redis away, Redis emptied, a connection that breaks: what becomes of a session."""

from __future__ import annotations

import time
from queue import Queue
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field
from redis import Redis

from crawler.access.acquisition import DomainAcquisition, Entered, Wait, Waiter
from crawler.capture.failures import Cause
from crawler.config import load_settings
from tests.integration.gate.flaky_proxy import FlakyProxy, flaky_proxy
from tests.integration.gate.stores import times

if TYPE_CHECKING:
    from collections.abc import Generator

    from crawler.access.gate import Held
    from tests.integration.gate.stores import OpenStores

DOMAIN = "shop.example"
TTL_MS = 2400


@define
class Session:
    """A session through a gate of its own, with everything that it told and lost."""

    stores: OpenStores
    url: str
    told: list[tuple[str, dict[str, Any]]] = field(factory=list)
    lost: Queue[Cause] = field(factory=Queue)
    acquisition: DomainAcquisition = field(init=False)

    def __attrs_post_init__(self) -> None:
        gate = self.stores.gate(self.url, times(TTL_MS))
        settings = load_settings({"domain_lock_backoff_base_ms": 100})
        acquisitions = self.stores.acquisitions(gate, settings, chance=lambda: 0.0)
        self.acquisition = DomainAcquisition(acquisitions, Waiter("5c1e", DOMAIN, self, self.hear_of_loss))

    def go_in(self) -> Held:
        """Wait as the acquisition says, until the domain is ours."""
        while isinstance(step := self.acquisition.advance(), Wait):
            time.sleep(step.milliseconds / 1000)
        assert isinstance(step, Entered)
        return step.held

    def events(self) -> list[str]:
        """The names of what was told."""
        return [event for event, _ in self.told]

    def info(self, event_type: str, message: str, **details: Any) -> None:
        """Hear of an event."""
        self.told.append((message, details))

    warn = error = info

    def hear_of_loss(self, held: Held, why: Cause) -> None:
        """Hear that the domain is lost."""
        self.lost.put(why)


@pytest.fixture
def proxy(redis_database: str, stores: OpenStores) -> Generator[FlakyProxy]:
    """A connection to Redis that can be spoiled."""
    with flaky_proxy(redis_database) as opened:
        yield opened


def test_an_outage_shorter_than_a_lock_lives_is_survived(proxy: FlakyProxy, stores: OpenStores) -> None:
    """Redis goes on being asked, and the session notices nothing."""
    session = Session(stores, proxy.url)
    session.go_in()
    proxy.down = True
    time.sleep(TTL_MS * 0.5 / 1000)
    proxy.down = False
    time.sleep(TTL_MS * 0.8 / 1000)
    assert session.lost.empty()
    session.acquisition.leave()
    assert session.events()[-1] == "lock.release.success"


def test_an_outage_longer_than_a_lock_lives_ends_the_session(
    proxy: FlakyProxy, stores: OpenStores, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told once; failed renewals and the failed release are logged and raise nothing."""
    session = Session(stores, proxy.url)
    session.go_in()
    proxy.down = True
    assert session.lost.get(timeout=60) is Cause.LOCK_LOST
    session.acquisition.leave()
    assert session.lost.empty()
    assert session.events()[-1] == "lock.release.failed"
    failures = [each for each in caplog.records if each.getMessage() == "lock.extend.failed"]
    assert {each.__dict__["fields"]["reason"] for each in failures} == {"redis_unavailable"}


def test_a_redis_that_forgot_the_lock_ends_the_session(proxy: FlakyProxy, stores: OpenStores) -> None:
    """As one restarted without its data: the session hears of it, and leaves its successor's lock alone."""
    session = Session(stores, proxy.url)
    session.go_in()
    with Redis.from_url(proxy.url) as client:
        client.flushdb()
    assert session.lost.get(timeout=60) is Cause.LOCK_LOST
    held = Session(stores, proxy.url).go_in()
    session.acquisition.leave()
    assert session.events()[-1] == "lock.release.stale"
    assert stores.gate(proxy.url, times(TTL_MS)).state(DOMAIN).value == held.token
