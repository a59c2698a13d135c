"""What spiders yield and what pipelines give; a page that was read becomes a capture here. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from uuid import UUID, uuid4

from attrs import field, frozen
from itemadapter import ItemAdapter

from crawler.pdp import facts_as_dict
from crawler.urls import spelling

if TYPE_CHECKING:
    from crawler.capture.failures import Cause
    from crawler.pdp import Facts, Reading, Verdict
    from crawler.warc.records import Shelved

MEDIA = "media"  # the page type of what is no HTML
MIN_TEXT_CHARS = 100


@frozen
class FetchedPage:
    """What a site answered, and what the rule read in it."""

    url: str = field(converter=spelling)  # where it was found in the end
    http_status: int
    content_type: str  # as the site declared it
    fetch_ms: int
    body: bytes = field(repr=False)
    reading: Reading = field(repr=False)
    doubts: tuple[str, ...] = ()  # about the answer, whatever the page says


@frozen
class Sent:
    """A document as its server sent it, before any script ran."""

    body: bytes = field(repr=False)
    content_type: str
    charset: str


@frozen(eq=False)
class PageCapture:
    """A page on its way into the store: what was fetched, and what the rule made of it.

    Hooks get this very object, so a subclass may carry what a hook of its own is to write along.
    """

    session_id: str
    page_type: str  # homepage, pdp, media, or page for a spider that has no page types
    url: str = field(converter=spelling)
    viewport: str = "desktop"
    http_status: int | None = None
    content_type: str | None = None
    charset: str | None = None
    load_timings: dict[str, Any] = field(factory=dict)
    body: bytes | None = field(default=None, repr=False)
    sent: Sent | None = field(default=None, repr=False)  # what the server sent, where the body was rendered
    screenshot: bytes | None = field(default=None, repr=False)
    media: bytes | None = field(default=None, repr=False)  # instead of a body, where it is no HTML
    visible_text: bytes | None = field(default=None, repr=False)
    features: bytes | None = field(default=None, repr=False)
    verdict: Verdict | None = field(default=None, repr=False)
    facts: Facts | None = field(default=None, repr=False)
    canonical_url: str | None = None  # as the page declares it
    low_confidence_reasons: tuple[str, ...] = ()
    record: Shelved | None = field(default=None, repr=False)  # where it lies already; it gets no files then
    cause: Cause | None = None  # why the page failed; such a page has no files
    page_id: UUID = field(factory=uuid4)

    @classmethod
    def of(
        cls, page: FetchedPage, session_id: str, page_type: str, *, doubts: tuple[str, ...] = (), **more: Any
    ) -> Self:
        """The capture of a page that was read; what is no HTML is kept as it came.

        `doubts` are those that neither the answer nor the page gives away.
        """
        reading, doubts = page.reading, (*page.doubts, *doubts)
        known: dict[str, Any] = {
            "session_id": session_id,
            "url": page.url,
            "http_status": page.http_status,
            "content_type": page.content_type or None,
            "load_timings": {"fetch_ms": page.fetch_ms},
            **more,
        }
        if not reading.is_html:
            known = {**known, "visible_text": None, "low_confidence_reasons": doubts}
            return cls(page_type=MEDIA, media=page.body, **known)
        if reading.is_judged:
            judged = {"features": reading.features, "verdict": reading.verdict, "facts": reading.facts}
            known = {"visible_text": reading.text, **judged, **known}
            doubts = (*doubts_about(page_type, reading, known["visible_text"]), *doubts)
        return cls(
            page_type=page_type,
            charset=reading.charset,
            body=page.body,
            canonical_url=reading.canonical_url,
            low_confidence_reasons=doubts,
            **known,
        )


def doubts_about(page_type: str, reading: Reading, text: bytes | None = None) -> tuple[str, ...]:
    """Why a judged page is not to be trusted much (SPEC F140); `text` is what a browser shows of it."""
    is_pdp, signals, chars = (
        page_type == "pdp",
        reading.verdict.signals,
        len((reading.text if text is None else text).decode()),
    )
    doubts = [
        ("missing_h1", not reading.has_h1),
        ("missing_primary_cta", not reading.has_cta),
        (f"text_too_short_{chars}", chars < MIN_TEXT_CHARS),
        ("missing_price", is_pdp and not signals.has_price),
        ("missing_add_to_cart", is_pdp and not signals.has_add_to_cart),
        ("price_disagrees", is_pdp and reading.facts.shows_another_price),
    ]
    return tuple(reason for reason, holds in doubts if holds)


def page_fields(item: Any) -> ItemAdapter | None:
    """Return the fields of an item that is a page, whatever type a pipeline gave it; None for any other."""
    if not ItemAdapter.is_item(item):
        return None
    fields = ItemAdapter(item)
    return fields if all(fields.get(name) for name in ("session_id", "page_id", "page_type")) else None


@frozen
class StoredPage:
    """A page that is in the store, as feeds export it."""

    session_id: str
    page_id: str
    page_type: str
    viewport: str
    url: str
    status: str
    http_status: int | None
    is_pdp: bool
    policy: str | None
    reasons: list[str]
    name: str | None
    price: str | None
    currency: str | None
    low_confidence_reasons: list[str]
    artifacts: list[str]  # storage URIs


@frozen
class PageVerdict:
    """What the rule makes of a page, for `scrapy parse` and feeds."""

    url: str
    policy: str
    is_pdp: bool
    signals: dict[str, bool]
    reasons: list[str]
    facts: dict[str, Any]
    candidates: list[str]

    @classmethod
    def of(cls, url: str, reading: Reading) -> Self:
        """The verdict's part of a reading."""
        verdict = reading.verdict
        return cls(
            url=url,
            policy=verdict.policy,
            is_pdp=verdict.is_pdp,
            signals=verdict.signals.as_dict(),
            reasons=list(verdict.reasons),
            facts=facts_as_dict(reading.facts),
            candidates=list(reading.candidates),
        )
