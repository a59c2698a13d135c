"""What spiders yield and what comes out of the pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from attrs import field, frozen

if TYPE_CHECKING:
    from crawler.capture.failures import Cause


@frozen(eq=False)
class PageCapture:
    """A page on its way into the book: what was fetched, and what the rule made of it.

    Clerks get this very object, so a subclass may carry what a clerk of its own is to write along.
    """

    session_id: str
    page_type: str  # homepage, pdp, or page for a spider that has no page types
    url: str
    viewport: str = "desktop"
    http_status: int | None = None
    content_type: str | None = None
    charset: str | None = None
    load_timings: dict[str, Any] = field(factory=dict)
    body: bytes | None = field(default=None, repr=False)
    media: bytes | None = field(default=None, repr=False)  # instead of a body, where it is no HTML
    visible_text: bytes | None = field(default=None, repr=False)
    features: bytes | None = field(default=None, repr=False)
    verdict: dict[str, Any] | None = field(default=None, repr=False)
    facts: dict[str, Any] | None = field(default=None, repr=False)
    canonical_url: str | None = None  # as the page declares it
    low_confidence_reasons: tuple[str, ...] = ()
    cause: Cause | None = None  # why the page failed; such a page has no files
    page_id: UUID = field(factory=uuid4)

    @property
    def ok(self) -> bool:
        """Whether the page was fetched."""
        return self.cause is None


@frozen
class StoredPage:
    """A page that is in the book, as feeds export it."""

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
