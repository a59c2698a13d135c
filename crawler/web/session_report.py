"""A session's report: one HTML file with everything in it, that asks no network and runs no script.

What sites wrote stands in it as text, never as markup.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from importlib.resources import files
from struct import Struct
from typing import TYPE_CHECKING, Any

from attrs import asdict
from jinja2 import Environment, StrictUndefined

from crawler import __version__
from crawler.urls import SCHEMES, redacted
from crawler.web.wording import size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from jinja2 import Template

    from crawler.pdp import Evidence
    from crawler.views.sessions import PageDocument, SessionWithLog

TITLES = {"pdp": "The product page", "homepage": "The home page", "page": "A page", "media": "A file"}
TONES = {"completed": "good", "partial": "warn", "failed": "bad", "warn": "warn", "error": "bad"}
SIGNALS = {
    "has_price": "a price",
    "has_title_and_image": "a title and an image",
    "has_add_to_cart": "a buy button",
    "has_product_schema": "product schema",
}
MAX_TEXT_CHARS = 400
TIMINGS = {
    "fetch_ms": "fetched in {} ms",
    "load_ms": "loaded in {} ms",
    "render_ms": "rendered in {} ms",
    "requests": "{} requests",
}
_PNG_SIZE = Struct(">II")
_PNG_SIZE_AT = 16
_SESSIONS_OWN = {"session_id", "domain"}


def as_html(session: SessionWithLog, pictures: Mapping[UUID, bytes], now: datetime) -> str:
    """The report, with the pictures of its pages by the ids of the pages."""
    facts = session.product
    folder = session.artifacts[0].storage_uri.partition("/")[0] if session.artifacts else ""
    values = {
        "session": session,
        "short_id": str(session.id)[:8],
        "name": session.said.name or None,
        "facts": facts,
        "price": session.said.price_in_words,
        "folder": folder,
        "short": lambda uri: uri.removeprefix(f"{folder}/"),
        "fact_rows": [(name, _text(value)) for name, value in facts.items() if value not in (None, [], {})],
        "tone": TONES.get(session.status, ""),
        "summary": list(_summary(session)),
        "groups": list(_groups(session, pictures)),
        "verdicts": list(_verdicts(session.pages)),
        "log": list(_log(session)),
        "now": now,
        "version": __version__,
    }
    return redacted(_template().render(**values))


@cache
def _template() -> Template:
    text = files("crawler.web").joinpath("templates", "session_report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.globals.update(link=_link, day=_day, clock=_clock, clock_day=_clock_day)
    return environment.from_string(text)


# ── its parts ──


def _summary(session: SessionWithLog) -> Iterator[tuple[str, str]]:
    yield "site", session.domain
    yield "begun", _clock_day(session.started_at) if session.started_at else "not yet"
    if session.started_at and session.finished_at:
        yield "took", f"{(session.finished_at - session.started_at).total_seconds():.1f} s"
    yield "rule", session.crawl_policy_version
    seen = {"0": "as the server sends them", "1": "in a browser", "auto": "in a browser where needed"}
    yield "pages seen", seen.get(session.render, session.render)
    files = "1 file" if len(session.artifacts) == 1 else f"{len(session.artifacts)} files"
    yield "kept", f"{files}, {size(sum(f.size_bytes for f in session.artifacts))}"
    goes = [file.retention_until for file in session.artifacts if file.retention_until]
    if goes:
        yield "HTML goes", _day(min(goes))


def _groups(session: SessionWithLog, pictures: Mapping[UUID, bytes]) -> Iterator[dict[str, Any]]:
    """The pages by their type, the product first; of each the first window first."""
    newest = [page for page in session.pages if page.epoch == session.epoch]
    for page_type, title in TITLES.items():
        pages = sorted((page for page in newest if page.page_type == page_type), key=lambda p: p.viewport)
        if pages:
            yield {"title": title, "pages": [_page(page, pictures.get(page.id)) for page in pages]}


def _page(page: PageDocument, picture: bytes | None) -> dict[str, Any]:
    width, height = _PNG_SIZE.unpack_from(picture, _PNG_SIZE_AT) if picture else (0, 0)
    timings = [
        words.format(page.load_timings[name]) for name, words in TIMINGS.items() if name in page.load_timings
    ]
    return {
        "viewport": page.viewport,
        "status": page.status,
        "http_status": page.http_status,
        "url": page.url,
        "picture": b64encode(picture).decode() if picture else "",
        "width": width,
        "height": height,
        "no_picture": "No screenshot: "
        + ("the page failed" if page.status != "ok" else "it was not rendered"),
        "doubts": ", ".join(page.low_confidence_reasons),
        "timings": " · ".join(timings),
    }


def _verdicts(pages: Sequence[PageDocument]) -> Iterator[dict[str, Any]]:
    for page in pages:
        verdict = page.judged
        if verdict is None or page.page_type != "pdp":
            continue
        signals = verdict.signals.as_dict()
        yield {
            "title": f"{TITLES['pdp']}, {page.viewport}",
            "is_pdp": verdict.is_pdp,
            "policy": verdict.policy,
            "reasons": verdict.reasons,
            "signals": [
                {"name": words, "holds": signals[name], "evidence": _proof(verdict.evidence.get(name))}
                for name, words in SIGNALS.items()
            ],
        }


def _proof(found: Evidence | None) -> str:
    """Where a signal was seen, and in which words."""
    return _text(asdict(found)) if found else ""


def _log(session: SessionWithLog) -> Iterator[dict[str, Any]]:
    for line in session.log:
        details = {name: value for name, value in line.details.items() if name not in _SESSIONS_OWN}
        said = [f"{name} {_text(value)}" for name, value in details.items() if value not in {None, ""}]
        yield {
            "at": line.timestamp,
            "message": line.message,
            "tone": TONES.get(line.level, ""),
            "details": " · ".join(said),
        }


# ── words ──


def _text(value: Any) -> str:
    """Any value as a line of text."""
    if value is None:
        return ""
    if isinstance(value, dict):
        said = (f"{name}: {_text(each)}" for name, each in value.items() if each not in (None, "", [], {}))
        return ", ".join(said)[:MAX_TEXT_CHARS]
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))[:MAX_TEXT_CHARS]
    return (value if isinstance(value, str) else json.dumps(value, default=str))[:MAX_TEXT_CHARS]


def _link(url: str) -> str:
    """An address that may stand in a link: one of the web."""
    return url if url.partition("://")[0].lower() in SCHEMES else "#"


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03}"


def _clock_day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
