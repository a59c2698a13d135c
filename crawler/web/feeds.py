"""Changes as RSS, Atom and JSON Feed, and the lines of a comparison as HTML."""

from __future__ import annotations

import re
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from markupsafe import Markup

from crawler.archive.comparing import ADDED, REMOVED, SAME
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from crawler.archive.comparing import Line, SectionChange
    from crawler.views.changes import ChangeDocument

TITLE = "What changed"
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_TAGS = {SAME: "span", ADDED: "ins", REMOVED: "del"}


def title_of(change: ChangeDocument) -> str:
    """A change in a line."""
    return redacted(f"{change.normalized_url_group}: {change.summary}")


def path_of(change: ChangeDocument) -> str:
    """The page that shows it."""
    if change.from_snapshot_id is None:
        return f"/snapshots/{change.to_snapshot_id}"
    return f"/diff/{change.from_snapshot_id}/{change.to_snapshot_id}"


def rss(changes: Iterable[ChangeDocument], origin: str) -> str:
    """RSS 2.0."""
    items = "".join(
        f"<item><title>{_text(title_of(each))}</title><link>{_text(origin + path_of(each))}</link>"
        f'<guid isPermaLink="false">{_text(_id(each, origin))}</guid>'
        f"<category>{_text(each.source_code)}</category>"
        f"<pubDate>{format_datetime(each.to_capture_timestamp, usegmt=True)}</pubDate></item>"
        for each in changes
    )
    about = f"<title>{TITLE}</title><link>{_text(origin)}/changes</link><description>{TITLE}</description>"
    return f'{_XML}<rss version="2.0"><channel>{about}{items}</channel></rss>\n'


def atom(changes: Iterable[ChangeDocument], origin: str, now: datetime) -> str:
    """Atom (RFC 4287)."""
    listed = list(changes)
    updated = max((each.to_capture_timestamp for each in listed), default=now)
    entries = "".join(
        f"<entry><id>{_text(_id(each, origin))}</id><title>{_text(title_of(each))}</title>"
        f"<link href={quoteattr(origin + path_of(each))}/>"
        f"<category term={quoteattr(_NOT_XML.sub('', each.source_code))}/>"
        f"<updated>{each.to_capture_timestamp.isoformat()}</updated></entry>"
        for each in listed
    )
    about = (
        f"<id>{_text(origin)}/changes</id><title>{TITLE}</title><updated>{updated.isoformat()}</updated>"
        f"<author><name>Vitrine</name></author><link href={quoteattr(origin + '/changes')}/>"
    )
    return f'{_XML}<feed xmlns="http://www.w3.org/2005/Atom">{about}{entries}</feed>\n'


def json_feed(changes: Iterable[ChangeDocument], origin: str) -> dict[str, Any]:
    """JSON Feed 1.1."""
    items = [
        {
            "id": _id(each, origin), "url": origin + path_of(each), "title": title_of(each),
            "content_text": each.summary, "date_published": each.to_capture_timestamp.isoformat(),
            "tags": [each.source_code, each.change_type],
        }
        for each in changes
    ]  # fmt: skip
    version = "https://jsonfeed.org/version/1.1"
    return {"version": version, "title": TITLE, "home_page_url": f"{origin}/changes", "items": items}


def _id(change: ChangeDocument, origin: str) -> str:
    return f"{origin}/changes#{change.change_id}"


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("", text))


# ── a comparison ──


def diff_html(sections: Iterable[SectionChange]) -> Markup:
    """The lines of a comparison; signs and words say what colours do."""
    return Markup("").join(map(_section, sections))


def _section(section: SectionChange) -> Markup:
    heading = Markup('<h3>{} <span class="quiet">{}</span></h3>').format(
        section.heading or "Top of the page", section.change
    )
    lines = Markup("").join(map(_line, section.lines))
    return Markup('<section>{}<div class="diff">{}</div></section>').format(heading, lines)


def _line(line: Line) -> Markup:
    tag = Markup(_TAGS[line.change])  # ruff: ignore[unsafe-markup-use] - one of three of ours
    mark = Markup(' data-change tabindex="-1"') if line.change != SAME else Markup("")
    pieces = line.words or ((SAME, line.text),)
    words = Markup("").join(
        Markup("{}").format(text) if change == SAME else Markup("<mark>{}</mark>").format(text)
        for change, text in pieces
    )
    return Markup("<{}{}>{}</{}>").format(tag, mark, words, tag)
