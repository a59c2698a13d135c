"""A capture becomes files and rows, and a page that cannot be stored ends its session."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DropItem

from crawler.capture.failures import Cause
from crawler.capture.items import PageCapture, StoredPage
from crawler.evidence.blobs import DiskFullError
from crawler.pipelines.evidence import EvidencePipeline
from crawler.sessions.rows import StaleSessionError
from tests.unit.components import HOME, a_visit, awaited, crawl_parts

if TYPE_CHECKING:
    from tests.unit.components import Parts


@pytest.fixture
def parts() -> Parts:
    """A crawl with one visit."""
    made = crawl_parts()
    made.visits.add(a_visit())
    return made


def capture_of(parts: Parts, **said: Any) -> PageCapture:
    """A page of the visit."""
    [session_id] = parts.visits.running
    return PageCapture(session_id=session_id, page_type="homepage", url=HOME, **said)


def test_other_items_go_by_untouched(parts: Parts) -> None:
    """A spider's own items are its own business."""
    item = {"url": HOME}
    assert awaited(parts.make(EvidencePipeline).process_item(item)) is item
    assert parts.visits.stored == []


def test_what_is_stored_goes_on_in_the_captures_place(parts: Parts) -> None:
    """With its id, its status and its files; both are counted."""
    files = (SimpleNamespace(uri="a/page.html.gz", packed=SimpleNamespace(data=b"12345")),)
    kept = SimpleNamespace(page=SimpleNamespace(id="p1", status="ok"), files=files)
    parts.visits.keeping = lambda _: kept
    item = awaited(parts.make(EvidencePipeline).process_item(capture_of(parts, http_status=200)))
    assert isinstance(item, StoredPage)
    assert (item.page_id, item.status, item.http_status, item.url) == ("p1", "ok", 200, HOME)
    assert (item.artifacts, item.is_pdp, item.price) == (["a/page.html.gz"], False, None)
    stats = parts.crawler.stats
    assert [stats.get_value(f"vitrine/{name}") for name in ("pages/stored", "artifacts/bytes")] == [1, 5]


def refuse(parts: Parts, error: Exception) -> None:
    """Have the store refuse pages."""

    def keeping(_: PageCapture) -> None:
        raise error

    parts.visits.keeping = keeping


def test_a_page_of_a_session_that_is_not_ours_is_dropped(parts: Parts) -> None:
    """Somebody else goes on with it; there is nothing to end here."""
    refuse(parts, StaleSessionError("taken over"))
    with pytest.raises(DropItem, match="not stored: taken over"):
        awaited(parts.make(EvidencePipeline).process_item(capture_of(parts)))
    assert parts.visits.stopped == []


@pytest.mark.parametrize(
    ("error", "cause"),
    [(DiskFullError("full"), Cause.DISK_FULL), (OSError("gone"), Cause.STORE_FAILED)],
)
def test_a_page_that_cannot_be_stored_ends_its_session(parts: Parts, error: Exception, cause: Cause) -> None:
    """A session that cannot keep what it sees must not end as if it had."""
    refuse(parts, error)
    capture = capture_of(parts)
    with pytest.raises(type(error)):
        awaited(parts.make(EvidencePipeline).process_item(capture))
    assert parts.visits.stopped == [(capture.session_id, cause)]
    assert parts.crawler.stats.get_value("vitrine/pages/stored") is None
