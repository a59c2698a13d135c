"""Words that are nearly what was meant: for a query that finds nothing, the closest words of titles.

A word is kept with each spelling that lacks one of its letters. Two words of which one is the other with a
letter too many, too few, wrong, or two swapped, have such a spelling in common: looking for that needs no
index but an ordinary one, on any database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from crawler.archive import word_index
from crawler.archive.words import words_of
from crawler.db.lists import evened
from crawler.db.models import WordForm
from crawler.db.upsert import insert_many

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

SHORTEST, LONGEST = 4, 24
MOST = 4  # words that stand in for one
_AT_ONCE = 400


def add(db: Session, titles: Iterable[str]) -> None:
    """Learn the words of titles."""
    words = {word for title in titles for word in words_of(title) if _is_known_kind(word)}
    known = set(
        db.scalars(
            select(WordForm.word).where(WordForm.form == WordForm.word, WordForm.form.in_(evened(words)))
        )
    )
    rows = [(form, word) for word in sorted(words - known) for form in _forms(word)]
    insert_many(db, "word_forms", ("form", "word"), rows, on_conflict="DO NOTHING")


def forget_unused(db: Session, titles: Iterable[str]) -> None:
    """Forget the words of deleted titles that no text has any more."""
    words = sorted({word for title in titles for word in words_of(title) if _is_known_kind(word)})
    gone = [word for word in words if not db.execute(word_index.having(db, [(word,)])).first()]
    for begin in range(0, len(gone), _AT_ONCE):
        db.execute(delete(WordForm).where(WordForm.word.in_(gone[begin : begin + _AT_ONCE])))


def like(db: Session, word: str) -> list[str]:
    """Known words that are nearly this one, the closest first."""
    if not _is_known_kind(word):
        return []
    query = select(WordForm.word).where(WordForm.form.in_(_forms(word))).distinct()
    near = sorted((_distance(word, other), other) for other in db.scalars(query))
    return [other for distance, other in near if distance <= 1 and other != word][:MOST]


def _is_known_kind(word: str) -> bool:
    return SHORTEST <= len(word) <= LONGEST and word.isalpha()


def _forms(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _distance(one: str, other: str) -> int:
    """Letters too many, too few, wrong or swapped: 0, 1, or 2 for more than one."""
    if one == other:
        return 0
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    a, b = one[at:], other[at:]
    is_one = a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[:2] == b[1::-1] and a[2:] == b[2:])
    return 1 if is_one else 2
