"""Path rules: which paths a list of globs speaks of, in time that grows with the path alone. Pure.

A rule without wildcards is one path. `*` stands for any text within a segment, `**` for any text across
segments; a `/**` at the end is what stands before it and all below it, a `/**/` in between is any number of
folders, or none. What follows a `?` is held against the query, where both stars mean any text; a rule without
one does not care about the query.

Rule and URL are compared after percent-decoding (once; `%2F`, `%3F` and `%25` stay as they are), without
doubled slashes, dot segments and slash at the end. Case matters. `%2A` in a rule is no wildcard, but a star.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_RULE_CHARS = 500
# What an automaton may remember of its steps, in bits of the states that it remembers.
_MEMORY_BITS = 64_000_000
_MAX_STEPS = 4096
_SHALLOW, _DEEP = "*", "**"
_FILLING = "\ue000"
_STARS = re.compile(r"(\*+)")
_SAME_FOLDERS = re.compile(r"(?:/\*\*)+(?=/|$)")
_SLASHES = re.compile(r"/{2,}")
_STAYS_ENCODED = re.compile(r"%(25|2[Ff]|3[Ff])")
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f]")
_PLAIN = frozenset("/:@!$&'()+,;=-._~%")


def problem_of(rule: str) -> str:
    """Why `rule` can be no path rule, in words; empty where it can."""
    path, mark, query = rule.partition("?")
    if not rule.startswith("/"):
        return 'does not begin with "/"'
    if len(rule) > MAX_RULE_CHARS:
        return f"is longer than {MAX_RULE_CHARS} characters"
    if _UNREADABLE.search(rule):
        return "has a control character in it"
    if not {".", ".."}.isdisjoint(path.split("/")):
        return 'has a "." or ".." segment, which no path has'
    if mark and not query:
        return 'has nothing behind its "?"'
    return ""


def comparable_path(path: str) -> str:
    """A URL's path as rules see it."""
    text = _decoded(path)
    if "//" not in text and "/." not in text and text.startswith("/"):
        return text.rstrip("/") or "/"
    kept: list[str] = []
    for segment in text.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in {"", "."}:
            kept.append(segment)
    return "/" + "/".join(kept)


def comparable_query(query: str) -> str:
    """A URL's query as rules see it."""
    return _decoded(query)


def literal_rule(path: str) -> str:
    """The rule for one comparable path, in plain ASCII."""
    return "".join(
        char
        if char in _PLAIN or (char.isascii() and char.isalnum())
        else quote(char, errors="surrogateescape")
        for char in path
    )


def examples_of(rule: str) -> tuple[tuple[str, str], ...]:
    """Comparable paths, each with a query, that a rule speaks of: shallow ones and deep ones.

    Rules that speak of all of these speak of whatever this rule does: stars hold what no rule spells.
    """
    tokens = _tokens(rule)
    cut = tokens.index("?") if "?" in tokens else len(tokens)
    [query] = _filled(tokens[cut + 1 :], depths=(1,))
    paths = (
        _SLASHES.sub("/", path).rstrip("/") or "/" for path in _filled(tokens[:cut], depths=(0, 1, 2, 9))
    )
    return tuple((path, query) for path in dict.fromkeys(paths))


@frozen
class PathRules:
    """A list of rules in the order in which they were written."""

    rules: tuple[str, ...]

    def first(self, path: str, query: str = "") -> str | None:
        """The first rule that speaks of a comparable path and query; None where none does."""
        found = [*self._spelt_out(path)]
        segments = path.rstrip("/")  # the root has none that a star could stand for
        if self._globs:
            found += self._globs.matching(segments)
        if query and self._with_query:
            found += self._with_query.matching(f"{segments}?{query}")
        return self.rules[min(found)] if found else None

    def _spelt_out(self, path: str) -> Iterator[int]:
        """The rules without a wildcard in their midst: no more than a look at each folder of the path."""
        exact, below, deepest = self._literals
        if path in exact:
            yield exact[path]
        end = 0
        for _ in range(deepest + 1):
            if (number := below.get(path[:end])) is not None:
                yield number
            if end == len(path):
                return
            end = path.find("/", end + 1)
            end = len(path) if end < 0 else end

    @cached_property
    def _literals(self) -> tuple[dict[str, int], dict[str, int], int]:
        """Rules by their one path, rules by the folder whose inside they mean, and the depth of these."""
        exact: dict[str, int] = {}
        below: dict[str, int] = {}
        for number, rule in enumerate(self.rules):
            path = _tidy(rule)
            if _is_literal(rule):
                folder = path.removesuffix("/**")
                into = exact if folder == path else below
                into.setdefault(_decoded(folder), number)
        deepest = max((folder.count("/") for folder in below), default=-1)
        return exact, below, deepest

    @cached_property
    def _globs(self) -> _Automaton | None:
        return _automaton(
            (number, rule)
            for number, rule in enumerate(self.rules)
            if "?" not in rule and not _is_literal(rule)
        )

    @cached_property
    def _with_query(self) -> _Automaton | None:
        return _automaton((number, rule) for number, rule in enumerate(self.rules) if "?" in rule)


class _Automaton:
    """Follows all its rules through a text at once; a state is a set of places in the rules, as bits.

    What it finds out about a step it remembers, within bounds, so that most steps are one look-up.
    """

    def __init__(self, rules: Iterable[tuple[int, str]]) -> None:
        self._literals: dict[str, int] = {}
        self._stars = self._deep = self._skips = self._start = 0
        self._ends: dict[int, int] = {}
        size = 0
        for number, rule in rules:
            self._start |= 1 << size
            size = self._lay_out(_tokens(rule), size)
            self._ends[size] = number
            size += 1
        self._start = self._closed(self._start)
        self._end_bits = sum(1 << end for end in self._ends)
        self._steps: dict[tuple[int, str], int] = {}
        self._room = max(64, min(_MAX_STEPS, _MEMORY_BITS // (size + 1)))

    def matching(self, text: str) -> list[int]:
        """The number of the first rule that matches all of `text`, if one does."""
        state = self._start
        for char in text:
            known = self._steps.get((state, char))
            state = self._step(state, char) if known is None else known
            if not state:
                return []
        ends = state & self._end_bits
        return [self._ends[(ends & -ends).bit_length() - 1]] if ends else []

    def _lay_out(self, tokens: list[str], place: int) -> int:
        """Give each token a place from `place` on; return the place behind the last."""
        path = tokens[: tokens.index("?")] if "?" in tokens else tokens
        for index, token in enumerate(tokens):
            bit = 1 << (place + index)
            if token in {_SHALLOW, _DEEP}:
                self._stars |= bit
                self._deep |= bit if token == _DEEP else 0
            else:
                char = token[-1]
                self._literals[char] = self._literals.get(char, 0) | bit
            if _may_skip(path, index):
                self._skips |= bit
        return place + len(tokens)

    def _step(self, state: int, char: str) -> int:
        moved = (state & self._literals.get(char, 0)) << 1
        stayed = state & (self._deep if char == "/" else self._stars)
        after = self._closed(moved | stayed)
        if len(self._steps) >= self._room:
            self._steps.clear()
        self._steps[state, char] = after
        return after

    def _closed(self, state: int) -> int:
        """The state with all places that are reached by reading nothing."""
        while (wider := state | (state & self._stars) << 1 | (state & self._skips) << 2) != state:
            state = wider
        return state


def _automaton(rules: Iterable[tuple[int, str]]) -> _Automaton | None:
    known = list(rules)
    return _Automaton(known) if known else None


def _tidy(rule: str) -> str:
    """The path of a rule with each thing said once."""
    path = _SLASHES.sub("/", rule.partition("?")[0])
    return _SAME_FOLDERS.sub("/**", path.rstrip("/") or "/")


def _is_literal(rule: str) -> bool:
    return "?" not in rule and "*" not in _tidy(rule).removesuffix("/**")


def _tokens(rule: str) -> list[str]:
    """A rule as stars and characters; a character that is a star itself is told apart by a backslash."""
    query = rule.partition("?")[2]
    tokens = [*_path_tokens(_tidy(rule).rstrip("/"))]
    if query:
        tokens.append("?")
        tokens += (_DEEP if token == _SHALLOW else token for token in _path_tokens(query))
    return tokens


def _path_tokens(text: str) -> Iterator[str]:
    for part in _STARS.split(text):
        if part.startswith("*"):
            yield _SHALLOW if part == "*" else _DEEP
        else:
            yield from ("\\*" if char == "*" else char for char in _decoded(part))


def _filled(tokens: list[str], depths: Iterable[int]) -> Iterator[str]:
    """The texts of a rule whose `**` stand for so many segments."""
    for depth in depths:
        fillings = {_SHALLOW: _FILLING, _DEEP: "/".join(_FILLING * depth)}
        yield "".join(fillings.get(token, token[-1]) for token in tokens)


def _may_skip(path: list[str], index: int) -> bool:
    """Whether a `/**` begins here that is a whole segment: there may be no such folder."""
    return path[index : index + 2] == ["/", _DEEP] and path[index + 2 : index + 3] in ([], ["/"])


def _decoded(text: str) -> str:
    if "%" not in text:
        return text
    kept = _STAYS_ENCODED.sub(lambda found: "%25" + found[1].upper(), text)
    return unquote(kept, errors="surrogateescape")
