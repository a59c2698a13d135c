"""The end of a session is written even if the store is away for a while."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import define, field

from crawler.crawl import visits as module
from crawler.sessions.rows import StaleSessionError
from tests.unit.components import a_visit, awaited


@define
class Moody:
    """Fails so many times before it writes."""

    failures: int
    error: Exception = field(factory=lambda: OSError("away"))
    calls: int = 0

    async def post(self, end: object) -> int:
        """Try."""
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return self.calls


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Any:
    """What came of an end with such waits, and which of them were told."""

    def try_it(moody: Any, *waits: float) -> tuple[Any, list[float]]:
        monkeypatch.setattr(module, "END_WAITS", waits)
        end: Any = object()
        try:
            result = awaited(module._patiently(moody, a_visit(), end))
        except Exception as error:  # ruff: ignore[blind-except] - the test looks at it
            result = error
        told = [vars(each)["fields"] for each in caplog.records if each.msg == "session.end_delayed"]
        return result, [each["again_in_seconds"] for each in told]

    return try_it


def test_what_fails_is_tried_again_after_each_wait(tried: Any) -> None:
    """Each failure is told, with the wait that follows."""
    assert tried(Moody(2), 0.0, 0.001, 60) == (3, [0.0, 0.001])


def test_the_last_failure_is_raised(tried: Any) -> None:
    """After one try more than there are waits."""
    moody = Moody(9)
    error, told = tried(moody, 0.0, 0.0)
    assert error is moody.error
    assert moody.calls == 3
    assert len(told) == 2


def test_who_lost_the_session_tries_no_more(tried: Any) -> None:
    """Another process ends it."""
    moody = Moody(9, StaleSessionError())
    assert tried(moody, 60, 60) == (moody.error, [])
    assert moody.calls == 1
