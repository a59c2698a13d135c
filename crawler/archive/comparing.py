"""What differs between two texts, as a reader would tell it: sections, lines, words. Pure.

Lines that both sides have once hold the comparison; what lies between them is compared by itself. So its cost
grows with the lines, whatever is in them; where that would be too much, whole stretches count as replaced,
and the comparison says that it is coarse.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from crawler.pdp import Facts

MAX_LINES = 20_000  # of a side; more are only counted against each other
MAX_PAIRS = 40_000  # of equal lines that may be tried against each other between two held lines
MAX_LINE_CHARS = 1_000  # of a line that is compared word by word
MAX_WORD_PAIRS = 10_000  # of equal words in it
MAX_SHOWN = 400  # lines of a comparison, those around the changed ones included
CONTEXT = 3
LOOK_AHEAD = 20  # lines in which a changed line's new form is looked for
ALIKE = 0.4  # of their words two lines share that are one line before and after
NOISE_RATIO, NOISE_LINES = 0.6, 0.7
SAME, ADDED, REMOVED, CHANGED = "same", "added", "removed", "changed"
FIELDS = ("name", "price", "currency", "availability")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_Heading = tuple[str, int]
_Block = tuple[str, int, int, int, int]  # as difflib has it: what is done, from where to where on each side


@frozen
class Side:
    """One of two texts."""

    title: str
    lines: tuple[str, ...]
    headings: frozenset[int] = frozenset()  # the numbers of the lines that are one

    @classmethod
    def of(cls, title: str, body: str, headings: Sequence[int] = ()) -> Side:
        """A text as it is stored."""
        return cls(title, tuple(body.split("\n")) if body else (), frozenset(headings))


@frozen
class Line:
    """A line of a comparison."""

    change: str  # same, added, removed
    text: str
    words: tuple[tuple[str, str], ...] | None = None  # its pieces, the same ones and those only here


@frozen
class SectionChange:
    """A part of the page in which something differs."""

    heading: str
    change: str  # added, removed, changed
    lines: tuple[Line, ...]


@frozen
class FieldChange:
    """A fact that differs."""

    name: str
    before: str | None
    after: str | None


@frozen
class Comparison:
    """What differs; all of it is counted before any of it is cut."""

    sections: tuple[SectionChange, ...]
    added_lines: int
    removed_lines: int
    added_sections: int
    removed_sections: int
    changed_sections: int
    change_ratio: float
    is_coarse: bool
    is_cut: bool  # more lines differ than are shown

    @property
    def is_noisy(self) -> bool:
        """Whether so much differs that it is hardly the same page."""
        return self.change_ratio >= NOISE_RATIO

    @property
    def summary(self) -> str:
        """In a sentence (SPEC 91)."""
        noise = " (high-noise change)" if self.is_noisy else ""
        if self.added_sections or self.removed_sections or self.changed_sections:
            parts = [f"{_many(self.changed_sections, 'section')} changed"]
            parts += [f"{self.added_sections} added", f"{self.removed_sections} removed"]
            return "; ".join(parts) + noise
        if self.added_lines or self.removed_lines:
            return f"{_many(self.added_lines, 'line')} added; {self.removed_lines} removed{noise}"
        return f"Archived text updated{noise}"


def compared(before: Side, after: Side) -> Comparison:
    """What a reader finds different, and where."""
    blocks, is_coarse = _blocks(before.lines, after.lines)
    removed = sum(b1 - b0 for what, b0, b1, _, _ in blocks if what != "equal")
    added = sum(a1 - a0 for what, _, _, a0, a1 in blocks if what != "equal")
    sections = tuple(_sections(before, after, blocks))
    shown = tuple(_cut(sections))
    kinds = Counter(part.change for part in sections) if before.headings or after.headings else Counter[str]()
    every = len(before.lines) + len(after.lines)
    return Comparison(
        sections=tuple(map(_with_words, shown)), added_lines=added, removed_lines=removed,
        added_sections=kinds[ADDED], removed_sections=kinds[REMOVED], changed_sections=kinds[CHANGED],
        change_ratio=round((added + removed) / every, 4) if every else 0.0, is_coarse=is_coarse,
        is_cut=shown != sections,
    )  # fmt: skip


def field_changes(
    before: Facts | None, after: Facts | None, titles: tuple[str, str]
) -> tuple[FieldChange, ...]:
    """Title and facts that differ; facts only where both sides have some."""
    found = [FieldChange("title", *titles)] if titles[0] != titles[1] else []
    if before is not None and after is not None:
        pairs = ((name, getattr(before, name), getattr(after, name)) for name in FIELDS)
        found += [FieldChange(name, _said(old), _said(new)) for name, old, new in pairs if old != new]
    return tuple(found)


def _said(fact: object) -> str | None:
    return None if fact in {None, ""} else str(fact)


def _many(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


# ── lines ──


def _blocks(before: Sequence[str], after: Sequence[str]) -> tuple[list[_Block], bool]:
    """What is done to get from one side to the other, in order."""
    if max(len(before), len(after)) > MAX_LINES:
        return list(_counted(before, after)), True
    numbers: dict[str, int] = {}
    old = [numbers.setdefault(line, len(numbers)) for line in before]
    new = [numbers.setdefault(line, len(numbers)) for line in after]
    matching = _Matching(old, new)
    matching.match(0, len(old), 0, len(new))
    return list(_between(sorted(matching.pairs), len(old), len(new))), matching.is_coarse


class _Matching:
    """Which lines of two sides are the same one."""

    def __init__(self, old: list[int], new: list[int]) -> None:
        self._old, self._new = old, new
        self.pairs: list[tuple[int, int]] = []
        self.is_coarse = False

    def match(self, b0: int, b1: int, a0: int, a1: int) -> None:
        """Match what both begin and end with, then what both have once, then what lies between these."""
        todo = [(b0, b1, a0, a1)]
        while todo:
            stretch = self._trimmed(*todo.pop())
            b0, b1, a0, a1 = stretch
            if b0 == b1 or a0 == a1:
                continue
            held = self._held(*stretch)
            if not held:
                self._match_repeated(*stretch)
                continue
            self.pairs += held
            starts = [(b0, a0), *((b + 1, a + 1) for b, a in held)]
            ends = [*held, (b1, a1)]
            todo += [(s[0], e[0], s[1], e[1]) for s, e in zip(starts, ends, strict=True)]

    def _trimmed(self, b0: int, b1: int, a0: int, a1: int) -> tuple[int, int, int, int]:
        while b0 < b1 and a0 < a1 and self._old[b0] == self._new[a0]:
            self.pairs.append((b0, a0))
            b0, a0 = b0 + 1, a0 + 1
        while b0 < b1 and a0 < a1 and self._old[b1 - 1] == self._new[a1 - 1]:
            b1, a1 = b1 - 1, a1 - 1
            self.pairs.append((b1, a1))
        return b0, b1, a0, a1

    def _held(self, b0: int, b1: int, a0: int, a1: int) -> list[tuple[int, int]]:
        """Lines that both have once, as many as are in the same order."""
        olds, news = Counter(self._old[b0:b1]), Counter(self._new[a0:a1])
        places = {line: place for place, line in enumerate(self._new[a0:a1], a0) if news[line] == 1}
        once = [
            (place, places[line])
            for place, line in enumerate(self._old[b0:b1], b0)
            if olds[line] == 1 and line in places
        ]
        return _rising(once)

    def _match_repeated(self, b0: int, b1: int, a0: int, a1: int) -> None:
        old, new = self._old[b0:b1], self._new[a0:a1]
        if _tries(old, new) > MAX_PAIRS:
            self.is_coarse = True
            return
        for b, a, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            self.pairs += [(b0 + b + n, a0 + a + n) for n in range(size)]


def _tries(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """How many pairs of equal things there are: so many are tried at the least."""
    olds, news = Counter(old), Counter(new)
    return sum(number * news[each] for each, number in olds.items())


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of them that rises on both sides; they rise on the first."""
    ends: list[int] = []  # the least end of a rising part, by its length
    last: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            last.append(number)
        else:
            ends[length], last[length] = place, number
    found: list[tuple[int, int]] = []
    number = last[-1] if last else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]


def _between(pairs: list[tuple[int, int]], b1: int, a1: int) -> Iterator[_Block]:
    """Blocks, from the pairs of lines that are the same."""
    b0 = a0 = 0
    for b, a in [*pairs, (b1, a1)]:
        if b > b0 or a > a0:
            yield ("replace" if b > b0 and a > a0 else "delete" if b > b0 else "insert"), b0, b, a0, a
        if b < b1:
            yield "equal", b, b + 1, a, a + 1
        b0, a0 = b + 1, a + 1


def _counted(before: Sequence[str], after: Sequence[str]) -> Iterator[_Block]:
    """For texts beyond any measure: which lines one side has more often than the other."""
    gone, come = Counter(before), Counter(after)
    gone, come = gone - come, come - gone
    for number, line in enumerate(before):
        if gone[line] > 0:
            gone[line] -= 1
            yield "delete", number, number + 1, 0, 0
    for number, line in enumerate(after):
        if come[line] > 0:
            come[line] -= 1
            yield "insert", 0, 0, number, number + 1


# ── sections ──


def _sections(before: Side, after: Side, blocks: list[_Block]) -> Iterator[SectionChange]:
    """The sections in which something differs, with what stands around it."""
    old, new = _headings(before), _headings(after)
    parts: dict[_Heading, list[Line]] = {}
    for what, b0, b1, a0, a1 in blocks:
        if what == "equal":
            parts.setdefault(new[a0], []).append(Line(SAME, after.lines[a0]))
            continue
        for number in range(b0, b1):
            parts.setdefault(old[number], []).append(Line(REMOVED, before.lines[number]))
        for number in range(a0, a1):
            parts.setdefault(new[number], []).append(Line(ADDED, after.lines[number]))
    known = (set(old), set(new))
    for heading, lines in parts.items():
        if any(line.change != SAME for line in lines):
            change = ADDED if heading not in known[0] else REMOVED if heading not in known[1] else CHANGED
            yield SectionChange(heading[0], change if heading[0] else CHANGED, tuple(_near_changes(lines)))


def _headings(side: Side) -> list[_Heading]:
    """For each line the heading that it stands under, and how many of these words there were before."""
    found: list[_Heading] = []
    seen: Counter[str] = Counter()
    heading = ("", 0)
    for number, line in enumerate(side.lines):
        if number in side.headings:
            heading = (line, seen[line])
            seen[line] += 1
        found.append(heading)
    return found


def _near_changes(lines: list[Line]) -> Iterator[Line]:
    changed = [number for number, line in enumerate(lines) if line.change != SAME]
    for number, line in enumerate(lines):
        place = bisect_left(changed, number)
        near = changed[max(place - 1, 0) : place + 1]
        if any(abs(number - other) <= CONTEXT for other in near):
            yield line


def _cut(sections: tuple[SectionChange, ...]) -> Iterator[SectionChange]:
    left = MAX_SHOWN
    for part in sections:
        if left <= 0:
            return
        yield SectionChange(part.heading, part.change, part.lines[:left])
        left -= len(part.lines)


# ── words ──


def _with_words(part: SectionChange) -> SectionChange:
    """A section whose changed lines say which of their words changed."""
    lines = list(part.lines)
    number = 0
    while number < len(lines):
        middle = _end_of(lines, number, REMOVED)
        end = _end_of(lines, middle, ADDED)
        for old, new in _pairs(lines[number:middle], lines[middle:end]):
            pair = (number + old, middle + new)
            pieces = _words(*(lines[each].text for each in pair))
            for each, words in zip(pair, pieces, strict=True):
                lines[each] = Line(lines[each].change, lines[each].text, words)
        number = max(end, number + 1)
    return SectionChange(part.heading, part.change, tuple(lines))


def _end_of(lines: list[Line], start: int, change: str) -> int:
    while start < len(lines) and lines[start].change == change:
        start += 1
    return start


def _pairs(before: Sequence[Line], after: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Which lines are one line before and after, by the words that they share."""
    start = 0
    words = [set(_WORD.findall(line.text[:MAX_LINE_CHARS])) for line in after]
    for number, line in enumerate(before if after else ()):
        mine = set(_WORD.findall(line.text[:MAX_LINE_CHARS]))
        for other in range(start, min(start + LOOK_AHEAD, len(after))):
            every = len(mine | words[other])
            if every and len(mine & words[other]) / every >= ALIKE:
                yield number, other
                start = other + 1
                break


def _words(before: str, after: str) -> tuple[tuple[tuple[str, str], ...] | None, ...]:
    """The pieces of both lines, the same ones and those that only one has; none where they are too long."""
    old, new = (_WORD.findall(line[:MAX_LINE_CHARS]) for line in (before, after))
    if max(len(before), len(after)) > MAX_LINE_CHARS or _tries(old, new) > MAX_WORD_PAIRS:
        return None, None
    pieces: tuple[list[tuple[str, str]], list[tuple[str, str]]] = ([], [])
    for what, b0, b1, a0, a1 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for side, words, change in ((0, old[b0:b1], REMOVED), (1, new[a0:a1], ADDED)):
            if words:
                pieces[side].append((SAME if what == "equal" else change, "".join(words)))
    return tuple(pieces[0]), tuple(pieces[1])
