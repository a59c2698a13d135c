"""Which pages of a session are seen in a browser, through which window, and what for. Pure.

A session that is rendered has each of its pages twice: what was found in the first window is then looked at
through the second. One that is rendered where it has to be has each page once, as the page wants it.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from crawler.capture.failures import Cause

if TYPE_CHECKING:
    from crawler.capture.items import FetchedPage
    from crawler.sessions.rows import SessionOrder

NEVER, ALWAYS, WHERE_NEEDED = "0", "1", "auto"  # of `-a render`
FIRST, SECOND = "desktop", "mobile"
HOME = "homepage"
MOST_NEEDED = 5  # pages of one session that are rendered because they say nothing without
SHELL_CHARS = 200  # of text; a page with less and a script is what the script fills
SHELL_BYTES = 512 * 1024
_SCRIPT = re.compile(rb"<script\b(?![^>]*\bld\+json)", re.IGNORECASE)
_AROUND = re.compile(
    rb"<(script|style|noscript|template|head|header|nav|footer|svg)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_UNREAD = {Cause.EMPTY_PAGE, Cause.UNREADABLE}


@frozen
class Step:
    """A page for the second window."""

    page_type: str
    url: str
    kept_out: Cause | None = None  # why it is not to be asked for there either


@define
class Tour:
    """The pages of one session."""

    render: str = NEVER
    rendered: int = 0  # because plain pages said nothing
    _left: deque[Step] = field(factory=deque)  # to be seen through the second window

    @classmethod
    def of(cls, order: SessionOrder) -> Tour:
        """The tour that a session is asked to make."""
        return cls(order.render)

    @property
    def window(self) -> str | None:
        """Through which pages are seen first; None: without a browser."""
        return FIRST if self.render == ALWAYS else None

    def note(self, page_type: str, url: str, cause: Cause | None = None) -> None:
        """Remember a page that was seen through the first window, or failed there."""
        if self.render == ALWAYS:
            self._left.append(
                Step(page_type, url, cause if cause is not None and _keeps_out(cause) else None)
            )

    def next(self) -> Step | None:
        """What is still to be seen through the second window."""
        return self._left.popleft() if self._left else None

    def why_render(self, page_type: str, page: FetchedPage | Cause) -> str | None:
        """Why a plain page is to be looked at in a browser; None where it can stay as it is."""
        if self.render != WHERE_NEEDED or self.rendered >= MOST_NEEDED:
            return None
        reason = _why(page_type, page)
        self.rendered += reason is not None
        return reason


def _keeps_out(cause: Cause) -> bool:
    """Whether the site, or a rule, keeps us from a page: to come as somebody else would be a way round."""
    return cause.traits.is_block or cause.traits.is_refusal or cause is Cause.EGRESS_REFUSED


def _says_little(body: bytes) -> bool:
    """Whether a page has hardly a word beside what all pages of its site have around them."""
    if len(body) > SHELL_BYTES:
        return False
    said = b" ".join(_AROUND.sub(b" ", body).split())
    return len(said.decode("utf-8", "replace")) < SHELL_CHARS


def _why(page_type: str, page: FetchedPage | Cause) -> str | None:
    if isinstance(page, Cause):
        return "no_verdict" if page in _UNREAD else None
    if not page.reading.is_html or page.reading.verdict.is_pdp:
        return None
    has_script = _SCRIPT.search(page.body) is not None
    if has_script and _says_little(page.body):
        return "script_shell"
    # Half of a product page: what a script may well complete.
    signals = page.reading.verdict.signals
    shows_half = any((signals.has_add_to_cart, signals.has_product_schema, signals.has_price))
    return "no_verdict" if has_script and page_type != HOME and shows_half else None
