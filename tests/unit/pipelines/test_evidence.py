"""A capture becomes files, rows and an item of feeds; one that cannot be stored ends its session."""

from __future__ import annotations

from decimal import Decimal
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


def keep_as(parts: Parts, files: tuple[Any, ...], **page: Any) -> None:
    """Have the visits store a page with such files."""
    parts.visits.keeping = lambda capture: SimpleNamespace(
        page=SimpleNamespace(**page), files=files, capture=capture
    )


def processed(parts: Parts, url: str = HOME, **said: Any) -> Any:
    """What the pipeline makes of a page of the visit."""
    [session_id] = parts.visits.running
    capture = PageCapture(session_id=session_id, page_type="pdp", url=url, **said)
    return awaited(parts.make(EvidencePipeline).process_item(capture))


def test_a_spiders_own_items_pass_untouched(parts: Parts) -> None:
    """They are stored nowhere."""
    item = {"url": HOME}
    assert awaited(parts.make(EvidencePipeline).process_item(item)) is item
    assert parts.visits.stored == []


def test_feeds_export_the_page_as_it_was_stored(parts: Parts) -> None:
    """With verdict, price and files, without a password; pages and bytes are counted."""
    files = (SimpleNamespace(uri="a/html.gz", packed=SimpleNamespace(data=b"12345")),)
    keep_as(parts, files, id="p1", status="ok")
    verdict = SimpleNamespace(is_pdp=True, policy="v1.2", reasons=("offer",))
    facts = SimpleNamespace(name="Jug", price=Decimal("12.50"), currency="EUR")
    item = processed(parts, "https://u:geheim@shop.example/p", http_status=200, verdict=verdict, facts=facts)
    assert isinstance(item, StoredPage)
    assert (item.page_id, item.status, item.http_status, item.artifacts) == ("p1", "ok", 200, ["a/html.gz"])
    assert (item.is_pdp, item.price, item.reasons) == (True, "12.50", ["offer"])
    assert "geheim" not in item.url
    stats = parts.crawler.stats
    assert [stats.get_value(f"vitrine/{name}") for name in ("pages/stored", "artifacts/bytes")] == [1, 5]


def test_a_failed_page_is_exported_without_facts(parts: Parts) -> None:
    """Nothing is made up for it."""
    keep_as(parts, (), id=1, status="failed")
    item = processed(parts, cause=Cause.TIMEOUT)
    assert (item.status, item.is_pdp, item.name, item.price, item.artifacts) == (
        "failed",
        False,
        None,
        None,
        [],
    )


@pytest.mark.parametrize(
    ("error", "raised"), [(StaleSessionError("taken over"), DropItem), (DiskFullError("full"), DiskFullError)]
)
def test_a_page_that_is_not_stored_is_no_item(
    parts: Parts, error: Exception, raised: type[Exception]
) -> None:
    """It is dropped where another process has the session by now, and counted nowhere."""

    def refuse(_: PageCapture) -> None:
        raise error

    parts.visits.keeping = refuse
    with pytest.raises(raised):
        processed(parts)
    assert parts.crawler.stats.get_value("vitrine/pages/stored") is None
