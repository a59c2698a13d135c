"""The index of what a file holds: a line for each answer, sorted as pywb and others look things up. Pure."""

from __future__ import annotations

import hashlib
import heapq
import json
import re
from contextlib import ExitStack
from functools import lru_cache
from typing import IO, TYPE_CHECKING
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from crawler.urls import DEFAULT_PORTS
from crawler.warc.methods import GET
from crawler.warc.records import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crawler.warc.reader import Entry

SORTED_BYTES = 32 * 1024 * 1024  # of lines that are sorted in memory; more go through files
MAX_STORED_BYTES = 2_000  # of a key; an index of PostgreSQL takes some more
_SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_WWW = re.compile(rb"www\d*\.")
_MAX_UNQUOTED = 16
_KNOWN_CHARS = 500
# What servers number their visitors with says nothing about the page.
_PATH_SESSIONS = tuple(
    re.compile(pattern)
    for pattern in (
        rb"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)",
        rb"(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)",
    )
)
_QUERY_SESSIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rb"(.*)(?:jsessionid=[0-9a-z]{32})(?:&(.*))?",
        rb"(.*)(?:phpsessid=[0-9a-z]{32})(?:&(.*))?",
        rb"(.*)(?:sid=[0-9a-z]{32})(?:&(.*))?",
        rb"(.*)(?:aspsessionid[a-z]{8}=[a-z]{24})(?:&(.*))?",
        rb"(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?",
    )
)


def url_key(url: str) -> str:
    """A URL as indexes are sorted: host backwards, then path and query, without what seldom matters."""
    return _known_key(url) if len(url) <= _KNOWN_CHARS else _key_of(url)


def _key_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("utf-8", "replace"), parts.port
    except ValueError:
        return url
    if not host:
        return url
    query = _query_key(parts.query.encode("utf-8", "replace"))
    named = b"" if port in {None, DEFAULT_PORTS.get(parts.scheme)} else b":%d" % port
    key = _host_key(host) + named + b")" + _path_key(parts.path.encode("utf-8", "replace"))
    return (key + (b"?" + query if query else b"")).decode("utf-8", "replace")


_known_key = lru_cache(1024)(_key_of)  # a page's is asked for its record, its group and its links


def domain_keys(domain: str) -> tuple[str, str]:
    """Between which keys those of a domain's URLs lie: from the first one on, before the second."""
    key = url_key(f"http://{domain}/").partition(")")[0]
    return f"{key})", f"{key}*"  # the next character


def stored_key(url: str) -> str:
    """The same, as rows have it: one that is longer than an index takes ends in a digest."""
    key = url_key(url).replace("\x00", "")
    data = key.encode("utf-8", "replace")
    if len(data) <= MAX_STORED_BYTES:
        return data.decode()
    return data[:MAX_STORED_BYTES].decode("utf-8", "ignore") + hashlib.sha256(data).hexdigest()


def _host_key(host: bytes) -> bytes:
    host = _unquoted(host)
    if not host.isascii():
        try:
            host = host.decode().encode("idna")
        except UnicodeError:
            host = _quoted(host)
    host = host.lower().replace(b"..", b".").strip(b".")
    if b":" in host:  # an address of six groups has no order to turn round
        return b"[" + host + b"]"
    return (
        b",".join(reversed(_WWW.sub(b"", host, count=1).split(b".")))
        if _WWW.match(host)
        else b",".join(reversed(host.split(b".")))
    )


def _path_key(path: bytes) -> bytes:
    kept: list[bytes] = []
    steps = _unquoted(path).split(b"/")[1:]
    for step in steps:
        if step == b".." and kept:
            kept.pop()
        elif step != b".":
            kept.append(step)
    last = kept[-1] if kept else b""
    whole = b"/" + b"".join(step + b"/" for step in kept[:-1] if step) + last
    whole = _quoted(whole).lower()
    for pattern in _PATH_SESSIONS:
        if found := pattern.fullmatch(whole):
            whole = found[1] + found[2]
    return whole[:-1] if whole.endswith(b"/") and len(whole) > 1 else whole


def _query_key(query: bytes) -> bytes:
    query = _quoted(_unquoted(query))
    for pattern in _QUERY_SESSIONS:
        if found := pattern.fullmatch(query):
            query = found[1] + (found[2] or b"")
    pairs = sorted(pair.split(b"=", 1) for pair in query.lower().split(b"&"))
    return b"&".join(b"=".join(pair) for pair in pairs)


def _unquoted(data: bytes) -> bytes:
    for _ in range(_MAX_UNQUOTED):
        if b"%" not in data or (plain := unquote_to_bytes(data)) == data:
            break
        data = plain
    return data


def _quoted(data: bytes) -> bytes:
    return quote_from_bytes(data, safe=_SAFE).encode()


def line_of(entry: Entry, file_name: str) -> bytes | None:
    """An entry's line; None for what is not looked up, or could not be found by it."""
    url, at = entry.head.url, entry.captured_at
    if entry.head.kind not in ANSWERS or url is None or at is None or not entry.is_seekable:
        return None
    said = {"url": url, "mime": _mime_of(entry)}
    if entry.message is not None and entry.message.status is not None:
        said["status"] = str(entry.message.status)
    if found := entry.head.get("warc-payload-digest"):
        said["digest"] = found
    said |= {"length": str(entry.length), "offset": str(entry.offset), "filename": file_name}
    if (method := entry.method) != GET:
        said |= {"method": method, "requestBody": entry.sent}
    key = re.sub(r"\s", "%20", url_key(entry.lookup_url))
    return f"{key} {at:%Y%m%d%H%M%S} {json.dumps(said)}\n".encode("utf-8", "replace")


def _mime_of(entry: Entry) -> str:
    if entry.head.kind == "revisit":
        return "warc/revisit"
    if entry.message is not None:
        return entry.message.mime_type or "unk"
    return (entry.head.get("content-type") or "unk").partition(";")[0].strip()


def sorted_lines(
    lines: Iterable[bytes], spool: Callable[[], IO[bytes]], most: int = SORTED_BYTES
) -> Iterator[bytes]:
    """Lines in the order of their bytes, each once; no more than `most` bytes are in memory at a time."""
    with ExitStack() as stack:
        runs: list[Iterable[bytes]] = []
        group: list[bytes] = []
        size = 0
        for line in lines:
            group.append(line)
            size += len(line)
            if size > most:
                runs.append(_spooled(group, stack.enter_context(spool())))
                group, size = [], 0
        previous = None
        for line in heapq.merge(*runs, sorted(group)):
            if line != previous:
                yield line
            previous = line


def _spooled(group: list[bytes], file: IO[bytes]) -> IO[bytes]:
    file.writelines(sorted(group))
    file.seek(0)
    return file
