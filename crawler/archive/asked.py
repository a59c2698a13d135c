"""What an address below `/web/` asks for: pywb's grammar, read from the path as it was sent. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from attrs import frozen

from crawler.archive.rewriting import MAX_URL_CHARS, absolute
from crawler.errors import BadUrlError

if TYPE_CHECKING:
    from collections.abc import Sequence

PREFIX = "/web/"
_NOT_IN_LINKS = re.compile(r"[^!-~]|[<>]")
AS_STORED, REWRITTEN, FRAMED = "id_", "mp_", ""
MODIFIERS = frozenset(
    {"", "id_", "mp_", "if_", "cs_", "im_", "js_", "oe_", "fr_", "em_", "ob_", "wkr_", "sw_"}
)
EMBEDDED = frozenset({"cs_", "im_", "oe_", "em_", "ob_"})  # what a page is shown with, never a page
TIMESTAMP_DIGITS = 14
MIN_TIMESTAMP_DIGITS = 4
TIMEMAPS = ("link", "json", "cdxj")
_TIME_HINT = "a time has 4 to 14 digits: YYYYMMDDhhmmss, or its beginning"
_CAPTURE = re.compile(r"(\d+)(\*|[a-z]{2,3}_)?/(.*)", re.DOTALL)
_SPELT_OUT = re.compile(r"https?%3a(?:%2f|/){1,2}", re.IGNORECASE)
_SLASHES = re.compile(r"(https?):/*(?=[^/])", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)


class AddressError(BadUrlError):
    """That address below `/web/` asks for nothing."""

    code = "bad_replay_address"


class Kind(StrEnum):
    """What is asked for."""

    CAPTURE = "capture"
    CALENDAR = "calendar"
    TIMEGATE = "timegate"
    TIMEMAP = "timemap"


@frozen
class Asked:
    """What an address asks for."""

    kind: Kind
    url: str
    timestamp: str = ""  # as it was written
    modifier: str = FRAMED
    form: str = ""  # of a TimeMap

    @property
    def at(self) -> datetime:
        """The time that is asked for."""
        return time_of(self.timestamp)


def asked(rest: str) -> Asked:
    """What the part of an address behind `/web/` asks for, its query included."""
    if rest.startswith("timemap/"):
        form, _, url = rest.removeprefix("timemap/").partition("/")
        if form not in TIMEMAPS:
            raise AddressError(
                f"there is no TimeMap {form[:40]!r}", hint=f"it is one of {', '.join(TIMEMAPS)}"
            )
        return Asked(Kind.TIMEMAP, url_of(url), form=form)
    if rest.startswith("*/"):
        return Asked(Kind.CALENDAR, url_of(rest.removeprefix("*/")))
    found = _CAPTURE.fullmatch(rest)
    if found is None or "." in found[1]:
        return Asked(Kind.TIMEGATE, url_of(rest))
    digits, modifier, url = found[1], found[2] or FRAMED, found[3]
    if modifier == "*":
        time_of(digits)
        return Asked(Kind.CALENDAR, url_of(url), digits[:TIMESTAMP_DIGITS])
    if modifier not in MODIFIERS:
        raise AddressError(
            f"{modifier!r} is no way to show a capture", hint="mp_ shows a page, id_ what was stored"
        )
    if not MIN_TIMESTAMP_DIGITS <= len(digits) <= TIMESTAMP_DIGITS:
        raise AddressError(f"{digits[:40]} is no time", hint=_TIME_HINT)
    time_of(digits)
    return Asked(Kind.CAPTURE, url_of(url), digits, modifier)


def url_of(given: str) -> str:
    """The URL that somebody means: a slash too few, no scheme, or spelt out as one word, it is the same."""
    text = unquote(given) if _SPELT_OUT.match(given) else given
    text = text.lstrip("/")
    if found := _SLASHES.match(text):
        text = f"{found[1].lower()}://{text[found.end() :]}"
    elif _OTHER_SCHEME.match(text):
        raise AddressError("only http and https addresses are archived")
    else:
        text = f"http://{text}"
    url = None if len(text) > MAX_URL_CHARS else absolute("http://nothing.invalid/", text)
    if url is None or url.startswith("http://nothing.invalid/") or "." not in f"{_host(url)}.":
        raise AddressError(f"{text[:80]!r} is no address of the web")
    return url.partition("#")[0]


def _host(url: str) -> str:
    return url.split("/", 3)[2]


# ── times ──


def time_of(timestamp: str) -> datetime:
    """The earliest time that begins with these digits; zeros for month and day are none."""
    filled = timestamp[:TIMESTAMP_DIGITS].ljust(TIMESTAMP_DIGITS, "0")
    year, month, day = (int(filled[begin:end]) or 1 for begin, end in ((0, 4), (4, 6), (6, 8)))
    hour, minute, second = (int(filled[begin : begin + 2]) for begin in (8, 10, 12))
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise AddressError(f"no calendar has {timestamp[:TIMESTAMP_DIGITS]}", hint=_TIME_HINT) from None


def timestamp_of(at: datetime) -> str:
    """A time as addresses have it."""
    return at.strftime("%Y%m%d%H%M%S")


_SHOWN = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d", "minute": "%Y-%m-%d %H:%M UTC"}


def shown_time(at: datetime, precision: str | None = None) -> str:
    """Return a time for people, as exactly as it is known."""
    return at.astimezone(UTC).strftime(_SHOWN.get(precision or "", "%Y-%m-%d %H:%M:%S UTC"))


def capture_date(at: datetime, precision: str | None = None) -> str:
    """Return the day of a capture, or the month or the year if no more is known."""
    return at.strftime(_SHOWN[precision] if precision in {"year", "month"} else "%Y-%m-%d")


def as_known(at: datetime, precision: str | None) -> datetime | str:
    """Return a time, or only its day, month or year where no more is known."""
    return capture_date(at, precision) if precision in {"year", "month", "day"} else at


def http_date(at: datetime) -> str:
    """A time as headers have it."""
    return format_datetime(at.astimezone(UTC).replace(microsecond=0), usegmt=True)


def accepted_time(header: str | None) -> datetime | None:
    """The time that `Accept-Datetime` names; None where it names none (RFC 7089, 2.1.1)."""
    if header is None or not header.strip():
        return None
    try:
        found = parsedate_to_datetime(header.strip())
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        raise AddressError(
            "Accept-Datetime is no time", hint="as in: Wed, 18 Nov 2026 10:30:00 GMT"
        ) from None


# ── addresses and links ──


def address(url: str, timestamp: str = "", modifier: str = FRAMED, origin: str = "") -> str:
    """Where a capture is shown; without a time, its TimeGate."""
    return f"{origin}{PREFIX}{timestamp}{modifier}/{url}" if timestamp else f"{origin}{PREFIX}{url}"


def timemap_address(url: str, origin: str = "") -> str:
    """Where all captures are listed."""
    return f"{origin}{PREFIX}timemap/link/{url}"


def calendar_address(url: str) -> str:
    """Where all captures are shown by their days."""
    return f"{PREFIX}*/{url}"


def link(target: str, relation: str, at: datetime | None = None, **more: str) -> str:
    """One entry of a `Link` header or of a TimeMap."""
    said = {"rel": relation, **({"datetime": http_date(at)} if at else {}), **more}
    # A header is ASCII; what a foreign archive has as an address need not be.
    target = _NOT_IN_LINKS.sub(lambda found: quote(found[0], errors="replace"), target)
    return f"<{target}>; " + "; ".join(f'{name}="{value}"' for name, value in said.items())


def links_of(url: str, origin: str, *beside: str) -> str:
    """The `Link` header of whatever is shown of a URL (RFC 7089, 2.2)."""
    return ", ".join(
        (
            link(url, "original"),
            link(address(url, origin=origin), "timegate"),
            link(timemap_address(url, origin=origin), "timemap", type="application/link-format"),
            *beside,
        )
    )


def memento_links(url: str, origin: str, here: datetime, around: Sequence[datetime | None]) -> str:
    """The header for a capture; `around` are the first, the one before, the one after, and the last."""
    relations: dict[datetime, list[str]] = {here: []}
    for word, at in zip(("first", "prev", "next", "last"), around, strict=True):
        if at is not None:
            relations.setdefault(at, []).append(word)
    mementos = [
        link(address(url, timestamp_of(at), origin=origin), " ".join((*words, "memento")), at)
        for at, words in sorted(relations.items())
    ]
    return links_of(url, origin, *mementos)
