"""Captures as lines: TimeMaps (RFC 7089), and what a CDX server answers, in pywb's forms. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.archive.asked import address, http_date, link, timemap_address, timestamp_of
from crawler.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from crawler.archive.lookup import Capture

FIELDS = (
    "urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename",
)  # fmt: skip
OUTPUTS = ("text", "cdxj", "json")
MAX_FILTERS = 10
MAX_FILTER_CHARS = 200
MAX_WILDCARDS = 3  # in a pattern
_FILTER = re.compile(r"(!?)([=~]?)([a-z]+):(.*)", re.DOTALL)
_WILD = re.compile(r"\.[*+]")
_PATTERN = re.compile(r"(?:[\w/:;,&= -]|\.[*+]?|\\[.\w/+*?()|-])*")


class FilterError(UsageError):
    """That is no filter."""

    code = "bad_filter"


@frozen
class Filter:
    """What a field of a line has to be, or must not be."""

    field: str
    fits: Callable[[str], bool]
    negated: bool

    def keeps(self, fields: dict[str, str]) -> bool:
        """Whether a line stays."""
        return self.fits(fields.get(self.field, "-")) is not self.negated


def filters_of(given: Sequence[str]) -> list[Filter]:
    """Pywb's filters: `=status:200` is that, `mime:html` has it, `~mime:text/.*` fits it, `!` is not."""
    if len(given) > MAX_FILTERS:
        raise FilterError(f"{len(given)} filters", hint=f"at most {MAX_FILTERS} are taken")
    return [_filter_of(each) for each in given]


def _filter_of(given: str) -> Filter:
    found = _FILTER.fullmatch(given) if len(given) <= MAX_FILTER_CHARS else None
    if found is None or found[3] not in FIELDS:
        raise FilterError(
            f"{given[:60]!r} is no filter", hint=f"as in =status:200; fields are {', '.join(FIELDS)}"
        )
    negated, how, field, text = found[1] == "!", found[2], found[3], found[4]
    if how == "~":
        return Filter(field, _fitting(text), negated)
    if how == "=":
        return Filter(field, lambda value: value == text, negated)
    return Filter(field, lambda value: text in value, negated)


def _fitting(text: str) -> Callable[[str], bool]:
    """A pattern of a few wildcards and alternatives; others may take for ever."""
    parts = text.split("|")
    refused = FilterError(
        f"{text[:60]!r} is no pattern that is taken", hint="it has text, . and .* and | in it"
    )
    if (
        len(parts) > MAX_FILTERS
        or not all(map(_PATTERN.fullmatch, parts))
        or len(_WILD.findall(text)) > MAX_WILDCARDS
    ):
        raise refused
    try:
        pattern = re.compile("|".join(f"(?:{_never_going_back(part)})" for part in parts))
    except re.error:  # as of \1
        raise refused from None
    return lambda value: pattern.fullmatch(value) is not None


def _never_going_back(part: str) -> str:
    """The same pattern: what stands between two wildcards is taken where it first is, and there alone.

    Else each wildcard would make a search longer by the text's length, for what fits nothing.
    """
    first, *rest = part.replace(".+", "..*").split(".*")
    between = "".join(f"(?>.*?{each})" for each in rest[:-1])
    return f"{first}{between}.*{rest[-1]}" if rest else first


def fields_of(capture: Capture) -> dict[str, str]:
    """A capture's line, field by field."""
    mime = "warc/revisit" if capture.kind == "revisit" else capture.mime_type or "unk"
    said = {
        "urlkey": capture.url_key.replace(" ", "%20"), "timestamp": timestamp_of(capture.captured_at),
        "url": capture.url, "mime": mime.partition(";")[0].strip(),
        "status": "-" if capture.status is None else str(capture.status), "digest": capture.digest or "-",
    }  # fmt: skip
    where = {"length": capture.length, "offset": capture.offset, "filename": capture.file}
    return said | {name: str(value) for name, value in where.items() if value is not None}


def line_of(fields: dict[str, str], output: str, wanted: Sequence[str] = ()) -> str:
    """A line in the form that is asked for, with its end."""
    chosen = {name: fields.get(name, "-") for name in wanted} if wanted else fields
    if output == "json":
        return json.dumps(chosen) + "\n"
    if wanted and output == "text":
        return " ".join(value.replace(" ", "%20") for value in chosen.values()) + "\n"
    rest = {name: value for name, value in chosen.items() if name not in {"urlkey", "timestamp"}}
    return f"{fields['urlkey']} {fields['timestamp']} {json.dumps(rest)}\n"


def wanted_fields(given: str) -> tuple[str, ...]:
    """The fields that are named, in that order."""
    names = tuple(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
    if unknown := next((name for name in names if name not in FIELDS), None):
        raise UsageError(f"there is no field {unknown[:40]!r}", hint=f"fields are {', '.join(FIELDS)}")
    return names


# ── TimeMaps ──


def link_timemap(
    url: str, origin: str, span: tuple[datetime, datetime], captures: Iterable[Capture]
) -> Iterator[str]:
    """All captures of a URL as links, the oldest first."""
    first, last = span
    about = {"from": http_date(first), "until": http_date(last), "type": "application/link-format"}
    yield link(timemap_address(url, origin=origin), "self", None, **about) + ",\n"
    yield link(address(url, origin=origin), "timegate") + ",\n"
    yield link(url, "original")
    for capture in captures:
        at = capture.captured_at
        relation = "memento"
        if at == first:
            relation = "first memento"
        if at == last:
            relation = "last memento" if at != first else "first last memento"
        yield ",\n" + link(address(capture.url, timestamp_of(at), origin=origin), relation, at)
    yield "\n"


def lines_timemap(captures: Iterable[Capture], form: str) -> Iterator[str]:
    """All captures of a URL as lines of an index, the oldest first."""
    for capture in captures:
        yield line_of(fields_of(capture), form)
