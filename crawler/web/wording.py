"""How values read on a page: times, sizes, states, addresses of captures. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

from attrs import frozen
from markupsafe import Markup

from crawler.archive.asked import capture_date
from crawler.views.sizes import DECIMAL, size_text

NOTHING = "\N{EN DASH}"
_PARTS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_GOOD = {
    "completed",
    "indexed",
    "ok",
    "there",
    "sealed",
    "free",
    "intact",
    "finished",
    "success",
    "new",
    "same",
}
_BUSY = {"running", "indexing", "in_progress", "initialized", "open", "held", "updated", "changed"}
_WARN = {
    "partial",
    "retryable",
    "left behind",
    "stopped",
    "damaged",
    "warn",
    "warning",
    "infra_error",
    "low_confidence",
}
_BAD = {"failed", "index_failed", "error", "gone", "bad", "missing", "checksum_differs", "content_differs",
        "unsafe_path", "infra_error_config"}  # fmt: skip
_GONE = ("removed_", "purged", "file_")


@frozen
class Look:
    """A sign, and the class of a colour; the word beside them says what they mean."""

    sign: str
    tone: str


def look_of(status: str) -> Look:
    """How a state looks."""
    if status in _GOOD:
        return Look("✓", "good")
    if status in _BUSY:
        return Look("→", "busy")
    if status in _WARN:
        return Look("!", "warn")
    return Look("✗", "bad") if status in _BAD or status.startswith(_GONE) else Look("·", "")


def said(status: str) -> str:
    """A state as words."""
    return status.replace("_", " ")


def coded(text: str) -> Markup:
    """A sentence in which what stands between backticks is something to type."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts)
    )


def when(moment: datetime | str | None, precision: str | None = None) -> Markup | str:
    """Show a moment in UTC, as exactly as it is known; scripts add how long ago that was."""
    if not moment:
        return NOTHING
    if isinstance(moment, str):
        return Markup('<time datetime="{0}">{0}</time>').format(moment)
    there = moment.astimezone(UTC)
    if precision in {"year", "month", "day"}:
        return Markup('<time datetime="{0}">{0}</time>').format(capture_date(there, precision))
    shown = f"{there:%Y-%m-%d %H:%M} UTC"
    return Markup('<time datetime="{}">{}</time>').format(there.isoformat(timespec="seconds"), shown)


def size(count: float | None) -> str:
    """Return a number of bytes in KB, MB, GB or TB."""
    return NOTHING if count is None else size_text(count, DECIMAL)


def number(count: float | None) -> str:
    """A number with its thousands apart."""
    return NOTHING if count is None else f"{count:,}"


def lasting(seconds: float | None) -> str:
    """A length of time, in its two largest units; nothing, where a clock that is behind says it is less."""
    if seconds is None:
        return NOTHING
    rest = max(0, int(seconds))
    shown: list[str] = []
    for length, unit in _PARTS:
        many, rest = divmod(rest, length)
        if many or (unit == "s" and not shown):
            shown.append(f"{many} {unit}")
    return " ".join(shown[:2])


def replay_url(moment: datetime, url: str) -> str:
    """Where a capture is shown."""
    return f"/web/{moment.astimezone(UTC):%Y%m%d%H%M%S}/{_as_path(url)}"


def calendar_url(url: str) -> str:
    """Where all captures of a page are shown."""
    return f"/web/*/{_as_path(url)}"


def _as_path(url: str) -> str:
    """A URL as the last part of another one: what would end the path early is spelt out."""
    return quote(url, safe="/:?=&%+,;@!$'()*~[]")
