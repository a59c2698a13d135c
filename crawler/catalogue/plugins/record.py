"""What a plugin says of one thing in a page, and what of it can be kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from attrs import Factory, frozen

from crawler.catalogue.plugins.json_values import BadValueError, canonical_json, plain, speakable
from crawler.errors import BadUrlError
from crawler.logs import redacted
from crawler.urls import require_http_url

MAX_KEY_CHARS = 4096
MAX_TITLE_CHARS = 500
_KIND = re.compile(r"[A-Za-z][\w.-]{0,63}", re.ASCII)


@frozen
class AssetRecord:
    """One thing in a page, normalised by the plugin that found it."""

    kind: str  # what it is, in one word
    key: str  # what makes it the same thing on another day, and on another page
    url: str  # where it is
    title: str | None = None
    content: Mapping[str, Any] = Factory(dict)  # a change of it is a new version
    details: Mapping[str, Any] = Factory(dict)  # kept beside a version; a change of it is none

    @cached_property
    def key_sha256(self) -> str:
        """A short stand-in for the key."""
        return hashlib.sha256(self.key.encode()).hexdigest()

    @cached_property
    def checksum(self) -> str:
        """The digest of what decides the version."""
        return hashlib.sha256(canonical_json({"kind": self.kind, "content": self.content})).hexdigest()


def checked(record: object) -> AssetRecord:
    """A copy of `record` as it can be kept; BadValueError says why it cannot. A long title is cut."""
    if not isinstance(record, AssetRecord):
        raise BadValueError(f"a {type(record).__name__} is no AssetRecord")
    return AssetRecord(
        kind=_kind(record.kind),
        key=_key(record.key),
        url=_url(record.url),
        title=_title(record.title),
        content=_object("content", record.content),
        details=_object("details", record.details),
    )


def _kind(kind: object) -> str:
    text = _text("kind", kind)
    if not _KIND.fullmatch(text):
        raise BadValueError("a kind is a letter and up to 63 letters, digits, dots, dashes or underscores")
    return text


def _key(key: object) -> str:
    text = redacted(_text("key", key))
    if not 0 < len(text) <= MAX_KEY_CHARS:
        raise BadValueError(f"a key has 1 to {MAX_KEY_CHARS} characters")
    return text


def _url(url: object) -> str:
    try:
        return require_http_url(redacted(_text("url", url)))
    except BadUrlError:
        raise BadValueError("url is none that a crawl could fetch") from None


def _title(title: object) -> str | None:
    return None if title is None else " ".join(_text("title", title).split())[:MAX_TITLE_CHARS] or None


def _object(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BadValueError(f"{name} is a {type(value).__name__}, not an object")
    copied: dict[str, Any] = plain(value)
    return copied


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadValueError(f"{name} is a {type(value).__name__}, not a text")
    return speakable(value)
