"""Writes what was read in pages: snapshots, texts with their words, groups and links; a batch at a time.

A snapshot is found again by its record, so its id stays, however often its page is read. On PostgreSQL the
snapshots, groups and links of one batch are written at a time, as on SQLite: two that touch the same groups
would wait for each other for ever. Texts and their words, which are most of the work, need no turn.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from attrs import frozen
from sqlalchemy import and_, case, exists, func, or_, select, update
from sqlalchemy.orm import aliased

from crawler.archive import groups, similar, texts, unused, word_index
from crawler.archive.groups import Links, group_key, link_key
from crawler.archive.words import folded
from crawler.db.engine import wait_for_turn
from crawler.db.lists import evened
from crawler.db.models import Snapshot
from crawler.db.upsert import insert_rows, taking
from crawler.html.content import Content

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Table
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database, Transaction


UNREADABLE = "unreadable"
OK_CLASS = 2
DAY = timedelta(days=1)
_LOCK = 8_243_903  # any number, as long as all writers of batches ask for the same one
_ALWAYS = (
    "source_id", "group_id", "text_id", "url", "captured_at", "date_precision", "mime_type", "status_code",
    "status_class", "title", "snippet", "language", "content_hash", "problem", "find_title", "find_snippet",
    "find_url",
)  # fmt: skip
_IF_SAID = ("page_id", "job_id")  # what another way of indexing knows is not forgotten


@frozen(kw_only=True)
class ReadPage:
    """A page, and what was read in it."""

    record_id: int
    source_id: int
    url: str
    captured_at: datetime
    mime_type: str | None
    status_code: int | None
    content: Content
    content_hash: str
    page_id: UUID | None = None
    job_id: int | None = None
    of_text: int | None = None  # the text of the capture that it repeats
    repeats: bool = False  # an earlier capture, whose content it has
    group_by: str = "query"
    date_precision: str | None = None  # of its time, where that is less than a second


def no_content(problem: str) -> Content:
    """What is known of a page that has no text."""
    return Content(problem, "", (), "", "und", (), is_cut=False)


def status_class(status: int | None) -> int:
    """In which order answers are shown: 2xx, then 3xx, then unknown, then the rest (SPEC 81)."""
    if status is None:
        return 0
    return {2: OK_CLASS, 3: 1}.get(status // 100, -1)


def take_turn(db: Session) -> None:
    """Wait until nobody else writes a batch."""
    wait_for_turn(db, _LOCK)


def write_in_turn(
    database: Database,
    contents: Iterable[Content],
    pages_of: Callable[[Transaction], Sequence[ReadPage]],
    check: Callable[[Transaction], None] = lambda _: None,
) -> Sequence[ReadPage]:
    """Write a batch: texts first, and when it has its turn, what is there of its pages; these.

    Whoever has the turn may delete a text that was known, or a purge may: then all of it is done once more.
    """
    kept = [each for each in contents if not each.problem]
    while True:
        with suppress(texts.GoneError), database.write() as db:
            check(db)
            new = texts.store(db, kept)
            take_turn(db)
            write(db, pages := pages_of(db), new)
            return pages


def write(db: Session, pages: Sequence[ReadPage], new: Mapping[int, str] = MappingProxyType({})) -> None:
    """Write a batch whose texts are stored, the new ones with these titles; `take_turn` comes first."""
    similar.add(db, new.values())
    if not pages:
        unused.delete_unused(db, unused.Named(set(new), set()))
        return
    keys = {each.record_id: group_key(each.url, each.group_by) for each in pages}
    link_keys = {keys[each.record_id]: link_key(each.url, each.group_by) for each in pages}
    ids = groups.ensure(db, {(each.source_id, keys[each.record_id]) for each in pages}, link_keys)
    text_ids = _text_ids(db, pages)
    before = _before(db, [each.record_id for each in pages])
    rows = [
        _row(each, ids[each.source_id, keys[each.record_id]], text_ids.get(each.record_id)) for each in pages
    ]
    insert_rows(db, _SNAPSHOTS, rows, on_conflict=_TAKING)
    word_index.add_parts(db, [each.record_id for each in pages], "record_id")
    touched = {row["group_id"] for row in rows} | {group for _, group in before.values() if group}
    hide_repeats(db, touched, [each.captured_at for each in pages])
    groups.refresh(db, touched)
    _write_links(db, pages, {row["record_id"]: row["group_id"] for row in rows})
    left = unused.Named(
        {*new, *(text_id for text_id, _ in before.values() if text_id)} - set(text_ids.values()),
        {group for _, group in before.values() if group} - {row["group_id"] for row in rows},
    )
    if left.texts or left.groups:
        unused.delete_unused(db, left)


def _row(page: ReadPage, group_id: int, text_id: int | None) -> dict[str, Any]:
    content = page.content
    return {
        "record_id": page.record_id, "source_id": page.source_id, "page_id": page.page_id,
        "job_id": page.job_id, "group_id": group_id, "text_id": text_id,
        "url": page.url, "captured_at": page.captured_at, "date_precision": page.date_precision,
        "mime_type": page.mime_type, "status_code": page.status_code,
        "status_class": status_class(page.status_code),
        "title": content.title, "snippet": content.snippet, "language": content.language,
        "content_hash": page.content_hash, "problem": content.problem or None, "deduplicated": False,
        "find_title": folded(content.title), "find_snippet": folded(content.snippet),
        "find_url": folded(page.url),
    }  # fmt: skip


_SNAPSHOTS = cast("Table", Snapshot.__table__)
_TAKING = taking(_SNAPSHOTS, ("record_id",), _ALWAYS, _IF_SAID)


def _before(db: Session, records: Collection[int]) -> dict[int, tuple[int | None, int | None]]:
    query = select(Snapshot.record_id, Snapshot.text_id, Snapshot.group_id)
    rows = db.execute(query.where(Snapshot.record_id.in_(evened(records))))
    return {record: (text_id, group) for record, text_id, group in rows}


def _text_ids(db: Session, pages: Sequence[ReadPage]) -> dict[int, int]:
    """The pages' texts, by record."""
    hashes = {
        each.record_id: texts.text_hash(each.content)
        for each in pages
        if not (each.content.problem or each.repeats)
    }
    ids = texts.ids(db, hashes.values())
    repeated = {each.record_id: each.of_text for each in pages if each.of_text is not None}
    return repeated | {record: ids[digest] for record, digest in hashes.items()}


def _write_links(db: Session, pages: Sequence[ReadPage], group_of: dict[int, int]) -> None:
    found: dict[int, Links] = {}
    for each in pages:
        group = group_of[each.record_id]
        is_good = status_class(each.status_code) == OK_CLASS and not (each.content.problem or each.repeats)
        if is_good and (group not in found or found[group].captured_at <= each.captured_at):
            targets = frozenset(map(link_key, each.content.links, repeat(each.group_by)))
            found[group] = Links(each.captured_at, targets)
    groups.write_links(db, found)


# ── of captures of one day that are the same, the newest is shown (SPEC 87) ──


_NEWER = aliased(Snapshot)
_HAS_NEWER = (
    exists()
    .where(
        _NEWER.group_id == Snapshot.group_id, _NEWER.url == Snapshot.url,
        _NEWER.content_hash == Snapshot.content_hash,
        func.date(_NEWER.captured_at) == func.date(Snapshot.captured_at),
        or_(
            _NEWER.captured_at > Snapshot.captured_at,
            and_(_NEWER.captured_at == Snapshot.captured_at, _NEWER.id > Snapshot.id),
        ),
    )
    .correlate(Snapshot)
)  # fmt: skip


def hide_repeats(db: Session, group_ids: Iterable[int], times: Sequence[datetime] = ()) -> int:
    """Flag the repeats among some groups' captures, of some days or of all; how many flags changed."""
    which: list[ColumnElement[bool]] = [Snapshot.group_id.in_(evened(set(group_ids)))]
    if times:
        first, last = (
            at.replace(hour=0, minute=0, second=0, microsecond=0) for at in (min(times), max(times))
        )
        which += [Snapshot.captured_at >= first, Snapshot.captured_at < last + DAY]
    is_repeat = case((_HAS_NEWER, True), else_=False)
    statement = update(Snapshot).where(*which, Snapshot.deduplicated != is_repeat)
    done = db.connection().execute(statement.values(deduplicated=is_repeat))
    return done.rowcount
