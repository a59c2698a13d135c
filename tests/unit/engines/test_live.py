"""What a crawl tells of a page that it looked at, whatever else it tells."""

from __future__ import annotations

import json

import pytest

from crawler.engines.live import MAX_TOLD_BYTES, LivePage, LiveRefusedError, page_in


def told(*events: object) -> list[bytes]:
    """Events, as they come through the pipe."""
    return [json.dumps(each).encode() + b"\n" for each in events]


def test_a_page() -> None:
    """Its text, where it lay, and when it was seen."""
    at = "2026-05-01T12:00:00+00:00"
    page = {
        "event": "live",
        "url": "https://a.example/",
        "status_code": 200,
        "fetched_at": at,
        "text": "a",
    }
    found = page_in(told({"event": "queued", "sessions": ["x"]}, page, {"event": "ended", "cause": None}))
    assert found is not None
    assert (found.url, found.text, found.cause) == ("https://a.example/", "a", None)
    assert found.fetched_at is not None
    assert found.fetched_at.isoformat() == at


def test_why_there_is_none() -> None:
    """The page's own cause before the visit's; a crawl that did not begin is an error."""
    cause = {"event": "live", "cause": "robots_refused"}
    assert page_in(told(cause, {"event": "ended", "cause": "crashed"})) == LivePage(cause="robots_refused")
    assert page_in(told({"event": "ended", "cause": "domain_held"})) == LivePage(cause="domain_held")
    assert page_in([b"nonsense\n", b"[]\n", b'"x"\n']) is None
    with pytest.raises(LiveRefusedError, match="Redis is away"):
        page_in(told({"event": "refused", "error": "Redis is away", "hint": "", "code": "redis"}))


def test_what_is_too_much() -> None:
    """Is not read to its end."""
    assert page_in([b" " * (MAX_TOLD_BYTES + 1), *told({"event": "live", "cause": "x"})]) is None
