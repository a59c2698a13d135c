"""What a plugin sees of a page, what it gives, and what of that can be kept. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from attrs import Factory, define, field, frozen

from crawler.catalogue.product_facts import identity_of
from crawler.errors import BadUrlError
from crawler.html.parse import as_utf8, charset_of
from crawler.pdp import facts_as_dict, verdict_as_dict
from crawler.storable import normal
from crawler.urls import require_http_url, without_passwords

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.capture.items import PageCapture
    from crawler.pdp import Facts, Verdict


# ── what a plugin sees: nothing in it can be changed, and its HTML is decoded when one asks ──


HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def _read_only(value: Any) -> Any:
    """A copy of JSON that nobody can change: one plugin's slip is not the next one's input."""
    if isinstance(value, dict):
        return MappingProxyType({name: _read_only(inner) for name, inner in value.items()})
    return tuple(map(_read_only, value)) if isinstance(value, list | tuple) else value


@frozen(eq=False)
class PluginPage:
    """What was fetched, and what was read in it."""

    url: str  # where it was found in the end
    canonical_url: str  # what its product is known by: the declared one where that is to be believed
    content_type: str = ""
    charset: str = ""
    body: bytes = field(default=b"", repr=False)
    title: str | None = None
    visible_text: str = field(default="", repr=False)
    depth: int = 0  # links between it and a start URL
    links: tuple[str, ...] = field(default=(), repr=False)
    media: tuple[str, ...] = field(default=(), repr=False)
    _verdict: Verdict | None = field(default=None, repr=False)
    _facts: Facts | None = field(default=None, repr=False)
    media_type: str = field(init=False)  # the content type without its parameters, as `text/html`
    is_html: bool = field(init=False)  # as declared, or where nothing is declared, as it was read
    is_pdp: bool = field(init=False)  # whether the rule takes it for a product page

    @media_type.default
    def _of_content_type(self) -> str:
        return self.content_type.partition(";")[0].strip().lower()

    @is_html.default
    def _looks_like_html(self) -> bool:
        if self.media_type:
            return self.media_type in HTML_TYPES
        return self._verdict is not None and "not_html" not in self._verdict.reasons

    @is_pdp.default
    def _is_judged_so(self) -> bool:
        return self._verdict is not None and self._verdict.is_pdp

    @cached_property
    def verdict(self) -> Mapping[str, Any]:
        """What the rule decided."""
        decided: Mapping[str, Any] = _read_only(verdict_as_dict(self._verdict) if self._verdict else {})
        return decided

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """What the page says of its product."""
        said: Mapping[str, Any] = _read_only(facts_as_dict(self._facts) if self._facts else {})
        return said

    @cached_property
    def html(self) -> str:
        """The body as text, in the charset that the page was read in."""
        try:
            source = as_utf8(self.body, self.charset)
        except KeyError:  # nobody has decided yet
            source = as_utf8(self.body, charset_of(self.body, self.content_type))
        return source.decode("utf-8", "replace")


def plugin_page(
    capture: PageCapture,
    *,
    title: str | None = None,
    depth: int = 0,
    links: Iterable[str] = (),
    media: Iterable[str] = (),
) -> PluginPage:
    """The page of a capture, with what its reading knows beside."""
    return PluginPage(
        url=capture.url,
        canonical_url=identity_of(capture.url, capture.canonical_url).url,
        content_type=capture.content_type or "",
        charset=capture.charset or "",
        body=capture.body or capture.media or b"",
        title=title,
        visible_text=(capture.visible_text or b"").decode("utf-8", "replace"),
        verdict=capture.verdict,
        facts=capture.facts,
        depth=depth,
        links=tuple(links),
        media=tuple(media),
    )


def normalised(text: str) -> str:
    """A text whose digest does not change with blanks, line ends, or the way an accent is composed."""
    return " ".join(normal("NFC", text).split())


# ── what it gives, what it is, and what is said of one that failed ──


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
    def checksum(self) -> str:
        """The digest of what decides the version."""
        return hashlib.sha256(canonical_json({"kind": self.kind, "content": self.content})).hexdigest()


class AssetPlugin(Protocol):
    """Makes assets of pages; it keeps nothing from one page to the next."""

    @property
    def name(self) -> str:
        """One word; assets are kept under it, so it stays."""

    def supports(self, page: PluginPage) -> bool:
        """Whether there is something in the page for this plugin."""

    def assets(self, page: PluginPage) -> Iterable[AssetRecord]:
        """What it finds in the page."""


@frozen
class PluginFailure:
    """Why a plugin gave nothing, or not everything, for a page."""

    plugin: str
    message: str
    context: dict[str, Any] = field(factory=dict)
    trace: str = field(default="", repr=False)  # the lines of a traceback


# ── what of that can be kept ──


MAX_KEY_CHARS = 4096
MAX_TITLE_CHARS = 500
_KIND = re.compile(r"[A-Za-z][\w.-]{0,63}", re.ASCII)
MAX_BYTES = 256 * 1024
MAX_VALUES = 20_000
MAX_DEPTH = 20
MAX_NUMBER = 2**63


class BadValueError(ValueError):
    """That cannot be kept."""


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
    text = without_passwords(_text("key", key), in_queries=True)
    if not 0 < len(text) <= MAX_KEY_CHARS:
        raise BadValueError(f"a key has 1 to {MAX_KEY_CHARS} characters")
    return text


def _url(url: object) -> str:
    try:
        return require_http_url(without_passwords(_text("url", url), in_queries=True))
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


# ── JSON that both databases can keep, copied and bounded; and one spelling for each value ──


def plain(value: object) -> Any:
    """A copy of `value` in dicts, lists, texts and numbers; BadValueError says what cannot be kept."""
    copied = _Copy().of(value, 0)
    if len(canonical_json(copied)) > MAX_BYTES:
        raise BadValueError(f"it has more than {MAX_BYTES} bytes as JSON")
    return copied


def canonical_json(value: object) -> bytes:
    """The one spelling of a plain value: keys in order, no blanks."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


def speakable(value: str) -> str:
    """A plain text that every database takes."""
    if "\x00" in value:
        raise BadValueError("a text has a NUL character")
    try:
        return value.encode().decode()  # of an enum's member its value
    except UnicodeEncodeError:
        raise BadValueError("a text has half of a surrogate pair") from None


@define
class _Copy:
    """One copy being made, and how much of it is still allowed."""

    left: int = MAX_VALUES

    def of(self, value: object, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            raise BadValueError(f"it has more than {MAX_VALUES} values, or is nested {MAX_DEPTH} deep")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return speakable(value)
        if isinstance(value, int | float):
            return _number(value)
        if isinstance(value, Mapping):
            return {_name(name): self.of(inner, depth + 1) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.of(inner, depth + 1) for inner in value]
        raise BadValueError(f"{type(value).__name__} is not JSON")


def _number(value: float) -> float:
    if not abs(value) < MAX_NUMBER:  # NaN is not, either
        raise BadValueError("a number is NaN, infinite or of more than 64 bits; write it as text")
    return int(value) if isinstance(value, int) else float(value)


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise BadValueError("a name in an object is no text")
    return speakable(name)
