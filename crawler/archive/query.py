"""What somebody looks for: any text becomes a tree that both databases understand. Pure; it never raises."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from attrs import frozen

from crawler.archive.words import folded, words_of
from crawler.errors import BadUrlError
from crawler.urls import MAX_URL_CHARS, canonical, spelling, without_tracking

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_CHARS = 256
MAX_TOKENS = 128
MAX_DEPTH = 32
MAX_PLAIN_TERMS = 16
FIELDS = ("title", "snippet", "url")
_TOKEN = re.compile(
    r"""
    (?P<paren>[()])
    | (?P<minus>-(?=[^\s()-]))?
      (?:(?P<field>title|snippet|url):)?
      (?: "(?P<phrase>(?:\\.|[^"\\])*)" | (?P<word>[^\s()"]+) )
    | (?P<junk>["-])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOOKS_LIKE_HOST = re.compile(
    r"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}(?::\d{1,5})?(?:[/?#].*)?", re.IGNORECASE
)


@frozen
class Term:
    """One word or phrase: what it consists of, and where it is to stand; anywhere, without a field."""

    text: str  # folded, for comparison with a part of title, snippet or URL
    words: tuple[str, ...]
    field: str = ""
    is_phrase: bool = False


@frozen
class Not:
    """What is not to be there."""

    of: Node


@frozen
class And:
    """All of it."""

    parts: tuple[Node, ...]


@frozen
class Or:
    """Any of it."""

    parts: tuple[Node, ...]


Node: TypeAlias = Term | Not | And | Or


@frozen
class Query:
    """A text that was looked for, as it was understood."""

    text: str
    kind: str  # all, url, boolean or plain
    node: Node | None = None  # of a boolean one
    # What is to be there, of a plain one or a boolean one; hits are ranked by it, and it is marked in them.
    terms: tuple[Term, ...] = ()
    urls: tuple[str, ...] = ()  # the spellings of a URL that is looked for, as groups have them
    addresses: tuple[str, ...] = ()  # the same as captures have them, where it has a query


def understood(text: str) -> Query:
    """Return what a text asks for: a URL, a boolean expression, or plain words."""
    whole = _plain(text[:MAX_URL_CHARS])
    if address := _url_in(whole):
        return _query_for(whole, address)
    text = _plain(text[:MAX_CHARS])
    if not text:
        return Query("", "all")
    tokens = list(_tokens(text))
    if _is_boolean(tokens) and len(tokens) <= MAX_TOKENS:
        node = _Parser(tokens).whole()
        if node is not None:
            return Query(text, "boolean", node, tuple(_wanted(node)))
    return Query(text, "plain", terms=_plain_terms(tokens, text))


def imbalance(text: str) -> str:
    """Return what is open in a text that is no URL, a quote or a bracket; empty if nothing is."""
    whole = _plain(text[:MAX_URL_CHARS])
    if _url_in(whole):
        return ""
    depth = 0
    for match in _TOKEN.finditer(whole):
        if match["junk"] == '"':
            return "a quote is not closed"
        depth += {"(": 1, ")": -1}.get(match["paren"] or "", 0)
        if depth < 0:
            return "a bracket is closed that was not opened"
    return "a bracket is not closed" if depth else ""


def _plain(text: str) -> str:
    return " ".join(text.replace("\x00", " ").encode("utf-8", "replace").decode().split())


@frozen
class _Token:
    kind: str  # term, and, or, not, (, )
    term: Term | None = None


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        if match["paren"]:
            yield _Token(match["paren"])
            continue
        if match["junk"]:
            continue
        word, quoted, name = match["word"], match["phrase"], (match["field"] or "").lower()
        if word in {"AND", "OR", "NOT"} and not name and not match["minus"]:
            yield _Token(word.lower())
            continue
        if match["minus"]:
            yield _Token("not")
        said = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else word
        yield _Token("term", Term(folded(said), tuple(words_of(said)), name, is_phrase=quoted is not None))


def _is_boolean(tokens: list[_Token]) -> bool:
    """Quotes alone do not make an expression; operators, parentheses and fields do."""
    return any(token.kind != "term" or (token.term is not None and token.term.field) for token in tokens)


def _plain_terms(tokens: list[_Token], text: str) -> tuple[Term, ...]:
    """The words and phrases of a text; where there is no word in it, the text itself."""
    terms = tuple(token.term for token in tokens if token.term is not None and token.term.words)
    if not terms:
        return (Term(folded(text), ()),)
    return tuple(Term(each.text, each.words, is_phrase=each.is_phrase) for each in terms[:MAX_PLAIN_TERMS])


def _wanted(node: Node) -> Iterator[Term]:
    if isinstance(node, Term):
        yield node
    elif not isinstance(node, Not):
        for part in node.parts:
            yield from _wanted(part)


class _Parser:
    """NOT binds closer than AND, AND closer than OR; terms beside each other are joined by AND."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def whole(self) -> Node | None:
        """The tree; None where the text is no expression."""
        node = self._any_of(0)
        return node if self._at == len(self._tokens) else None

    def _next(self) -> str:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""

    def _any_of(self, depth: int) -> Node | None:
        parts = [self._all_of(depth)]
        while parts[-1] is not None and self._next() == "or":
            self._at += 1
            parts.append(self._all_of(depth))
        return _joined(Or, parts)

    def _all_of(self, depth: int) -> Node | None:
        parts = [self._one(depth)]
        while parts[-1] is not None and self._next() in {"and", "not", "term", "("}:
            if self._next() == "and":
                self._at += 1
            parts.append(self._one(depth))
        return _joined(And, parts)

    def _one(self, depth: int) -> Node | None:
        kind = self._next()
        if not kind or kind in {"and", "or", ")"} or depth >= MAX_DEPTH:
            return None
        token = self._tokens[self._at]
        self._at += 1
        if kind == "not":
            inner = self._one(depth + 1)
            return None if inner is None else Not(inner)
        if kind == "(":
            inner = self._any_of(depth + 1)
            if inner is None or self._next() != ")":
                return None
            self._at += 1
            return inner
        return token.term if token.term is not None and token.term.text.strip() else None


def _joined(kind: type[And | Or], parts: list[Node | None]) -> Node | None:
    """None where a part is none: then the whole is no expression."""
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts):
        return None
    return known[0] if len(known) == 1 else kind(known)


def is_url(text: str) -> bool:
    """Return whether a text is looked up as a URL, whose length is not cut."""
    return bool(_url_in(_plain(text[:MAX_URL_CHARS])))


def _url_in(text: str) -> str:
    """Return the URL that a text is; nothing where it is none."""
    asked = text[4:] if text.lower().startswith("url:") else text
    is_named = asked is not text and asked.lower().startswith("www.")
    looks_so = asked is text and _LOOKS_LIKE_HOST.fullmatch(asked)
    if " " in text or not ("://" in asked or is_named or looks_so):
        return ""
    url = asked if "://" in asked else f"https://{asked}"
    try:
        parts = urlsplit(canonical(url))
    except (BadUrlError, ValueError):
        return ""
    return url if parts.scheme in {"http", "https"} and parts.netloc else ""


def _query_for(text: str, url: str) -> Query:
    """Return the query for a URL: all spellings under which its captures may be kept."""
    bare = canonical(url)
    # Without a scheme it may be words all the same: 12.99, node.js.
    is_bare = "://" not in text and not text.lower().startswith("url:")
    terms = (Term(folded(text), tuple(words_of(text)), is_phrase=True),) if is_bare else ()
    addresses = [spelling(url), bare, without_tracking(bare)] if "?" in url else []
    return Query(
        text, "url", terms=terms, urls=_spellings(without_tracking(bare)),
        addresses=tuple(dict.fromkeys(each for address in addresses for each in _spellings(address))),
    )  # fmt: skip


def _spellings(url: str) -> tuple[str, ...]:
    """Return a URL with http and https, with and without `www.` and the last slash."""
    parts = urlsplit(url)
    bare = parts.netloc.removeprefix("www.")
    paths = {parts.path, parts.path.rstrip("/") or "/", parts.path.rstrip("/") + "/"}
    return tuple(
        parts._replace(scheme=scheme, netloc=netloc, path=path).geturl()
        for scheme in ("https", "http")
        for netloc in (bare, f"www.{bare}")
        for path in sorted(paths)
    )
