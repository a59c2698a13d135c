"""Records as bytes: a pair for each answer, the one that a file begins with, and the fields of any. Pure."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from attrs import frozen
from isal import igzip

from crawler.warc.messages import FOLD, as_words, fetched_url, request_head, response_head
from crawler.warc.methods import lookup_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.warc.messages import Exchange, Resource

VERSION = b"WARC/1.1"
FORMAT = "WARC File Format 1.1"
CONFORMS_TO = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
IDENTICAL_PAYLOAD = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
# The level that files are packed with elsewhere: a tenth of the time of zlib's own, and a fifth more space.
GZIP_LEVEL = 2
YEARS = range(1000, 9999)  # that have four digits, as addresses do, and one after them
ANSWERS = frozenset({"response", "revisit", "resource"})  # the kinds of records that say what a site sent
EXCHANGED = frozenset({"response", "revisit"})  # those among them that went over a wire
NOT_MODIFIED = 304
MOST_KNOWN = 2048  # answers of a file that what is made of them can still refer to
_MICROSECOND = timedelta(microseconds=1)
_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?)?)?"
    r"\s*(Z|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
# What a date without seconds says, by the last of its numbers.
_PRECISIONS = ((5, "minute"), (3, "day"), (2, "month"), (1, "year"))
_OUTSIDE_OF_FIELDS = re.compile(r"[\r\n\x00]+")

Fields = tuple[tuple[str, str], ...]


@frozen
class Original:
    """An answer that is stored already, as a revisit refers to it."""

    record_id: str
    url: str
    date: str


@frozen
class Pair:
    """An answer and its request as members of a file: what is appended as a whole, and what a row says.

    What was made of an answer is a member alone.
    """

    data: bytes
    length: int  # of the answer's member, which comes first
    record_id: str
    kind: str
    url: str
    captured_at: datetime
    date: str  # as it stands in the record
    payload_digest: str
    status: int | None
    mime_type: str | None
    original: Original | None = None
    lookup_url: str = ""  # that it is looked up by, if that is another

    @property
    def as_original(self) -> Original:
        """What later answers of the same bytes refer to."""
        return Original(self.record_id, self.url, self.date)


@frozen
class Shelved:
    """Where an answer lies, and what its record says."""

    file_id: int | None  # of the file's row
    path: str
    offset: int
    pair: Pair


def record(kind: str, record_id: str, fields: Fields, *block: bytes) -> bytes:
    """A record as it stands in a member: its fields, its block, and the end of both."""
    lines = [f"WARC-Type: {kind}", f"WARC-Record-ID: {record_id}"]
    lines += [f"{name}: {_OUTSIDE_OF_FIELDS.sub(' ', value)}" for name, value in fields]
    lines += [f"Content-Length: {sum(map(len, block))}", "", ""]
    return b"".join((VERSION, b"\r\n", "\r\n".join(lines).encode("utf-8", "replace"), *block, b"\r\n\r\n"))


def member(data: bytes) -> bytes:
    """A record as one gzip member."""
    packed: bytes = igzip.compress(data, GZIP_LEVEL, mtime=0)
    return packed


def new_id() -> str:
    """A name that no other record has."""
    return f"<urn:uuid:{uuid4()}>"


def digest(*parts: bytes) -> str:
    """A digest as fields have it."""
    machine = hashlib.sha256()
    for part in parts:
        machine.update(part)
    return "sha256:" + machine.hexdigest()


def as_date(at: datetime) -> str:
    """A time as records have it, to the microsecond."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_date(text: str | None) -> datetime | None:
    """Return what a record's date says, in UTC; None where it says nothing, or nothing that can be.

    A date of less than a second is the earliest time that it may mean.
    """
    if not text:
        return None
    found = _DATE.fullmatch(text.strip())
    try:
        at = parsedate_to_datetime(text) if found is None else _iso_date(found)
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return at if at.year in YEARS else None


def date_precision(text: str | None) -> str | None:
    """Return how exact a record's date is; None if it has seconds, or is none."""
    found = _DATE.fullmatch(text.strip()) if text and read_date(text) is not None else None
    if found is None or found[6] is not None:
        return None
    return next(word for group, word in _PRECISIONS if found[group] is not None)


def _iso_date(found: re.Match[str]) -> datetime:
    *numbers, fraction, zone = found.groups(default="0")
    year, hour, minute, second = (int(numbers[index]) for index in (0, 3, 4, 5))
    month, day = int(found[2] or 1), int(found[3] or 1)
    at = datetime(year, month, day, hour, minute, second, int(fraction[:6].ljust(6, "0")), UTC)
    return at if zone in {"0", "Z", "z"} else at - _zone(zone)


def _zone(text: str) -> timedelta:
    hours, minutes = int(text[1:3]), int(text[-2:])
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if text.startswith("-") else offset


@frozen
class About:
    """What a file says of its making; nothing of the machine that made it."""

    software: str
    user_agent: str
    robots: str
    operator: str = ""

    def member(self, file_name: str, record_id: str, at: datetime) -> bytes:
        """The record that a file begins with."""
        said = {
            "software": self.software,
            "format": FORMAT,
            "conformsTo": CONFORMS_TO,
            "http-header-user-agent": self.user_agent,
            "robots": self.robots,
            "operator": self.operator,
        }
        lines = (f"{name}: {_OUTSIDE_OF_FIELDS.sub(' ', value)}\r\n" for name, value in said.items() if value)
        block = "".join(lines).encode("utf-8", "replace")
        fields = (
            ("WARC-Date", as_date(at)),
            ("WARC-Filename", file_name),
            ("Content-Type", "application/warc-fields"),
            ("WARC-Block-Digest", digest(block)),
        )
        return member(record("warcinfo", record_id, fields, block))


class PairWriter:
    """Makes the pairs of one file, and remembers for it what was stored already."""

    def __init__(self, revisits: str = "off") -> None:
        """`revisits`: what is the same as before is stored once: `off`, `url`, or `payload` for any URL."""
        self.file_id = new_id()
        self._revisits = revisits
        self._originals: dict[tuple[str, str], Original] = {}
        self._answers: dict[str, str] = {}  # the newest by URL
        self._last: datetime | None = None

    def pair(self, exchange: Exchange) -> Pair:
        """An answer and its request; the second refers to the first."""
        url, at = fetched_url(exchange.url), self._later(exchange.captured_at)
        payload = digest(exchange.body)
        key = ("" if self._revisits == "payload" else url, payload)
        original = None if self._revisits == "off" else self._originals.get(key)
        answer_id, date = new_id(), as_date(at)
        known = (("WARC-Warcinfo-ID", self.file_id), ("WARC-Target-URI", url), ("WARC-Date", date))
        answer = _answer(exchange, answer_id, (*known, ("WARC-Payload-Digest", payload)), original)
        request = _request(exchange, (*known, ("WARC-Concurrent-To", answer_id)))
        kinds = [value for name, value in exchange.headers if name.lower() == b"content-type"]
        pair = Pair(
            data=answer + request,
            length=len(answer),
            record_id=answer_id,
            kind="revisit" if original or exchange.status == NOT_MODIFIED else "response",
            url=url,
            captured_at=at,
            date=date,
            payload_digest=payload,
            status=exchange.status,
            mime_type=_mime_type(kinds),
            original=original,
            lookup_url=_lookup_url(url, exchange),
        )
        if self._revisits != "off" and original is None and exchange.body and not exchange.truncated:
            self._originals[key] = pair.as_original
        self._note(url, answer_id)
        return pair

    def made(self, resource: Resource) -> Pair:
        """What was made of an answer: a record of its own, which belongs to the newest of its URL."""
        url = fetched_url(resource.url)
        name, at, record_id = resource.kind + url, self._later(resource.made_at), new_id()
        payload, date = digest(resource.body), as_date(at)
        fields = [
            ("WARC-Warcinfo-ID", self.file_id),
            ("WARC-Target-URI", name),
            ("WARC-Date", date),
            ("Content-Type", resource.content_type),
            ("WARC-Payload-Digest", payload),
            ("WARC-Block-Digest", payload),
        ]
        if url in self._answers:
            fields.append(("WARC-Concurrent-To", self._answers[url]))
        data = member(record("resource", record_id, tuple(fields), resource.body))
        return Pair(
            data=data, length=len(data), record_id=record_id, kind="resource", url=name, captured_at=at,
            date=date, payload_digest=payload, status=None,
            mime_type=_mime_type([resource.content_type.encode()]),
        )  # fmt: skip

    def _note(self, url: str, answer_id: str) -> None:
        """Remember an answer; the oldest is forgotten."""
        self._answers.pop(url, None)
        self._answers[url] = answer_id
        if len(self._answers) > MOST_KNOWN:
            del self._answers[next(iter(self._answers))]

    def _later(self, at: datetime) -> datetime:
        """No two answers of a file have the same time, so that URL and time name one."""
        if self._last is not None and at <= self._last:
            at = self._last + _MICROSECOND
        self._last = at
        return at


def _answer(exchange: Exchange, record_id: str, known: Fields, original: Original | None) -> bytes:
    fields = [*known, ("Content-Type", "application/http; msgtype=response")]
    if exchange.ip_address:
        fields.append(("WARC-IP-Address", exchange.ip_address))
    if exchange.truncated:
        fields.append(("WARC-Truncated", exchange.truncated))
    if original is not None:
        fields += [
            ("WARC-Profile", IDENTICAL_PAYLOAD),
            ("WARC-Refers-To", original.record_id),
            ("WARC-Refers-To-Target-URI", original.url),
            ("WARC-Refers-To-Date", original.date),
        ]
    head = response_head(exchange)
    body = b"" if original is not None else exchange.body
    fields.append(("WARC-Block-Digest", digest(head, body)))
    return member(record("revisit" if original else "response", record_id, tuple(fields), head, body))


def _request(exchange: Exchange, known: Fields) -> bytes:
    head, body = request_head(exchange), exchange.request_body
    fields = (
        *known,
        ("Content-Type", "application/http; msgtype=request"),
        ("WARC-Payload-Digest", digest(body)),
        ("WARC-Block-Digest", digest(head, body)),
    )
    return member(record("request", new_id(), fields, head, body))


def _lookup_url(url: str, exchange: Exchange) -> str:
    kinds = [value for name, value in exchange.request_headers if name.lower() == b"content-type"]
    kind = as_words(kinds[0]) if kinds else ""
    return lookup_url(url, as_words(exchange.method).upper(), kind, exchange.request_body)


def _mime_type(values: Sequence[bytes]) -> str | None:
    return as_words(values[0]).partition(";")[0].strip().lower() or None if values else None


@frozen
class RecordHead:
    """A record's fields, by their names in lower case."""

    fields: Mapping[str, str]
    size: int  # bytes before the block

    @classmethod
    def of(cls, lines: bytes, size: int) -> Self:
        """Return the fields in a record's lines; of repeated ones the first, and nothing that is no field."""
        fields: dict[str, str] = {}
        for line in as_words(FOLD.sub(b" ", lines)).split("\n")[1:]:
            name, colon, value = line.partition(":")
            if colon:
                fields.setdefault(name.strip().lower(), value.strip())
        return cls(fields, size)

    def get(self, name: str) -> str | None:
        """A field's value."""
        return self.fields.get(name)

    @property
    def kind(self) -> str:
        """Its type: response, request, revisit, …; empty where it does not say."""
        return self.fields.get("warc-type", "").lower()

    @property
    def url(self) -> str | None:
        """What was asked for; old writers put it between angle brackets."""
        url = self.fields.get("warc-target-uri")
        return url.removeprefix("<").removesuffix(">") if url else None

    @property
    def is_http(self) -> bool:
        """Whether its block is an HTTP message."""
        return self.fields.get("content-type", "").lower().startswith("application/http")
