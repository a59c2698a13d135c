"""Which address a picture is shown with, of those that its element names. Pure.

A script would have put the address of a lazy picture where a browser looks, and a browser takes whichever
candidate of a set fits its window. No script runs in archived pages, and not every candidate was captured:
so lazy addresses are put in place here, and candidates that were not captured are left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from selectolax.lexbor import LexborNode

    Attributes = dict[str, str | None]

MAX_SET_CHARS = 100_000
WITH_PICTURES = "img, source, iframe, video, audio"
_LAZY = ("data-src", "data-lazy-src", "data-original", "data-lazy")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset")
_FILLED_LATER = frozenset({"iframe", "video", "audio"})
_PLACEHOLDER = re.compile(r"\s*(?:data:|about:blank|\Z)", re.IGNORECASE)
# Nothing that was taken is looked at again, and one without its address is the end.
_CANDIDATE = re.compile(r"[\s,]*+(\S++)(?:(?<!,)\s++((?:[^,(]++|\((?:[^)]*+\)|[^)]*+\Z))*+))?+,?")


@frozen
class Candidate:
    """An address in a set, and for which size it is there."""

    address: str
    size: str

    def __str__(self) -> str:
        is_data = self.address[:5].lower() == "data:"
        address = self.address if is_data else self.address.replace(",", "%2C")
        return f"{address} {self.size}".strip()


def candidates(value: str) -> Iterator[Candidate]:
    """Yield the candidates of a `srcset`."""
    at, text = 0, value[:MAX_SET_CHARS]
    while found := _CANDIDATE.match(text, at):
        at = found.end()
        yield Candidate(found[1].rstrip(","), (found[2] or "").strip())


def named(attributes: Attributes) -> list[str]:
    """Return the addresses among which an element leaves a choice; none where it leaves none."""
    sets = [value for key in ("srcset", *_LAZY_SETS) if (value := attributes.get(key))]
    lazy = [value for key in _LAZY if (value := attributes.get(key))]
    if not (sets or lazy):
        return []
    addresses = [each.address for value in sets for each in candidates(value)]
    return [*addresses, *lazy, *filter(None, [attributes.get("src")])]


@define
class Pictures:
    """Puts the address of each picture of a page in its place."""

    is_there: Callable[[str], bool]  # whether an address of the page was captured
    wanted: list[str] = Factory(list)  # not captured, while something of less worth is shown in its place
    _lazy: set[str] = Factory(set)  # that were put in place
    _of_sources: str | None = None  # the first candidate of the sources around the next picture

    def placed(self, name: str, attributes: Attributes) -> Attributes:
        """Return an element's attributes with the addresses that can be shown."""
        if name in _FILLED_LATER or (name == "source" and "src" in attributes):
            return self._filled(attributes)
        if name == "source":
            return self._source(attributes)
        return self._picture(attributes) if name == "img" else attributes

    def has_all(self, instead: Sequence[LexborNode]) -> bool:
        """Whether the pictures for readers without scripts are in place already."""
        return bool(instead) and all(each.attributes.get("src") in self._lazy for each in instead)

    def _filled(self, attributes: Attributes) -> Attributes:
        lazy = _first(attributes, _LAZY)
        is_empty = _PLACEHOLDER.match(attributes.get("src") or "")
        return {**attributes, "src": lazy} if lazy and is_empty else attributes

    def _source(self, attributes: Attributes) -> Attributes:
        named_here, there = self._sets(attributes)
        if not named_here and (lazy := _first(attributes, _LAZY)):
            return self._filled({**attributes, "src": attributes.get("src") or lazy})
        if named_here and not there:
            self._of_sources = self._of_sources or named_here[0].address
        return _with_set(attributes, there)

    def _picture(self, attributes: Attributes) -> Attributes:
        named_here, there = self._sets(attributes)
        lazy, given = _first(attributes, _LAZY), attributes.get("src") or ""
        around, self._of_sources = self._of_sources, None
        is_real = not _PLACEHOLDER.match(given)
        if lazy and self.is_there(lazy):
            shown: str | None = lazy
            self._lazy.add(lazy)
        elif is_real and self.is_there(given):
            shown = given
            self.wanted += filter(None, [lazy])
        elif there:
            shown = there[0].address
        else:
            first = named_here[0].address if named_here else None
            shown = lazy or (given if is_real else None) or first or around or attributes.get("src")
        attributes = _with_set(attributes, there)
        return attributes if shown is None else {**attributes, "src": shown}

    def _sets(self, attributes: Attributes) -> tuple[list[Candidate], list[Candidate]]:
        """Return the candidates of an element, and those of them that were captured."""
        value = _first(attributes, _LAZY_SETS) or attributes.get("srcset") or ""
        found = list(candidates(value))
        return found, [each for each in found if self.is_there(each.address)]


def _first(attributes: Attributes, names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := (attributes.get(name) or "").strip())), None)


def _with_set(attributes: Attributes, there: list[Candidate]) -> Attributes:
    rest = {key: value for key, value in attributes.items() if key != "srcset"}
    return {**rest, "srcset": ", ".join(map(str, there))} if there else rest
