"""A capture that cannot be kept ends its session; one that is kept becomes what feeds export."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from attrs import evolve

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture
from crawler.crawl.keeping import keep
from crawler.evidence.blobs import DiskFullError
from crawler.sessions.rows import StaleSessionError
from tests.unit.components import a_visit, awaited, crawl_parts


def kept(capture: PageCapture, outcome: Any) -> tuple[Any, list[tuple[str, Cause]], Any]:
    """What comes of keeping a capture, which sessions were stopped, and the crawl's stats."""
    parts = crawl_parts()
    visit = parts.visits.add(a_visit())

    def keeping(_capture: PageCapture) -> Any:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    parts.visits.keeping = keeping
    capture = evolve(capture, session_id=visit.id)
    visits: Any = parts.visits
    try:
        return awaited(keep(parts.crawler, visits, capture)), parts.visits.stopped, parts.crawler.stats
    except Exception as error:  # ruff: ignore[blind-except] - what came of it
        return error, parts.visits.stopped, parts.crawler.stats


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (DiskFullError("full"), Cause.DISK_FULL),
        (RuntimeError("odd"), Cause.STORE_FAILED),
        (StaleSessionError("another's"), None),
    ],
)
def test_a_session_that_cannot_keep_what_it_sees_is_over(error: Exception, cause: Cause | None) -> None:
    """Unless it is another's by now, who is not to hear of it."""
    capture = PageCapture(session_id="", page_type="pdp", url="https://shop.example/", cause=Cause.TIMEOUT)
    found, stopped, _ = kept(capture, error)
    assert found is error
    assert [each for _, each in stopped] == ([] if cause is None else [cause])


def test_what_feeds_export(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page as it was stored: what was decided, what it costs, where it lies; no password."""
    files = [SimpleNamespace(uri="a/1.gz", packed=SimpleNamespace(data=b"12345"))]
    row = SimpleNamespace(id=uuid4(), status="ok")
    capture: Any = PageCapture(
        session_id="", page_type="pdp", url="https://u:geheim@shop.example/p", http_status=200
    )
    capture = evolve(
        capture,
        verdict=SimpleNamespace(is_pdp=True, policy="v1.2", reasons=("offer",)),
        facts=SimpleNamespace(name="Jug", price=Decimal("12.50"), currency="EUR"),
    )
    found, stopped, stats = kept(capture, SimpleNamespace(page=row, files=files))
    assert not isinstance(found, Exception), found
    assert (found.is_pdp, found.price, found.artifacts, found.reasons) == (
        True,
        "12.50",
        ["a/1.gz"],
        ["offer"],
    )
    assert "geheim" not in found.url
    assert stopped == []
    assert stats.get_value("vitrine/artifacts/bytes") == 5


def test_a_failed_page_is_exported_too() -> None:
    """Without what nobody could read in it; nothing is made up."""
    capture = PageCapture(session_id="", page_type="pdp", url="https://shop.example/p", cause=Cause.TIMEOUT)
    row = SimpleNamespace(id=uuid4(), status="failed")
    found, _, _ = kept(capture, SimpleNamespace(page=row, files=[]))
    assert (found.status, found.is_pdp, found.name, found.price, found.artifacts) == (
        "failed",
        False,
        None,
        None,
        [],
    )
