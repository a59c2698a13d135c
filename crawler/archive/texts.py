"""Texts of pages: each is stored once, and found by its words.

Batches store theirs beside each other. All do so in the order of their hashes, and before they hold anything
that somebody who has the turn to write snapshots could wait for: no two wait for each other for ever.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import select

from crawler.archive import word_index
from crawler.db.lists import evened
from crawler.db.models import Text
from crawler.db.upsert import insert_rows
from crawler.html.content import NORMALIZATION

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import Table
    from sqlalchemy.orm import Session

    from crawler.html.content import Content

_TEXTS = cast("Table", Text.__table__)


class GoneError(Exception):
    """Somebody has deleted a text since it was looked for."""


def text_hash(content: Content) -> str:
    """The digest of what counts of a page."""
    return hashlib.sha256(f"{NORMALIZATION}\n{content.title}\n{content.text}".encode()).hexdigest()


def store(db: Session, contents: Iterable[Content]) -> dict[int, str]:
    """Store the texts that are not there, and have them found by their words; the titles of these, by id."""
    wanted = {text_hash(each): each for each in contents}
    known = _ids(db, wanted)
    made = _insert(db, [(digest, wanted[digest]) for digest in sorted(wanted) if digest not in known])
    # By their numbers: SQLite's index of words is written to the file whenever one is less than that before.
    ours = {key: wanted[digest] for key, digest in sorted((key, digest) for digest, key in made.items())}
    if ours:
        word_index.add(db, [(key, each.title, each.text) for key, each in ours.items()])
    return {key: each.title for key, each in ours.items()}


def ids(db: Session, hashes: Collection[str]) -> dict[str, int]:
    """The texts of those hashes; they stay until the transaction's end."""
    found = _ids(db, hashes, stay=True)
    if any(digest not in found for digest in hashes):
        raise GoneError
    return found


def _insert(db: Session, new: Sequence[tuple[str, Content]]) -> dict[str, int]:
    """The ids of those that were not there, by hash; what others are storing is waited for."""
    if not new:
        return {}
    rows: list[dict[str, Any]] = [
        {"text_hash": digest, "title": found.title, "body": found.text, "is_cut": found.is_cut,
         "headings": found.headings}
        for digest, found in new
    ]  # fmt: skip
    if db.get_bind().dialect.name == "sqlite":  # nobody else writes
        insert_rows(db, _TEXTS, rows)
        return _ids(db, [digest for digest, _ in new])
    made = insert_rows(db, _TEXTS, rows, on_conflict="(text_hash) DO NOTHING RETURNING text_hash, id")
    return {row[0]: row[1] for row in made}


def _ids(db: Session, hashes: Iterable[str], *, stay: bool = False) -> dict[str, int]:
    query = select(Text.text_hash, Text.id).where(Text.text_hash.in_(evened(set(hashes))))
    return {row[0]: row[1] for row in db.execute(query.with_for_update(read=True) if stay else query)}
