"""What no snapshot needs any more goes with the last one; what stays of groups and words stays true."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import bindparam, delete, exists, select

from crawler.archive import groups, similar
from crawler.db.models import Outlink, Page, PageGroup, Snapshot, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import InstrumentedAttribute, Session


@frozen
class Named:
    """Texts and groups that snapshots name, and may soon be the last to have named."""

    texts: set[int]
    groups: set[int]


def named_by_sessions(db: Session, sessions: Sequence[Any]) -> Named:
    """What the snapshots of sessions that are to go name."""
    pages = select(Page.id).where(Page.session_id.in_(sessions))
    return named_by(db, Snapshot.page_id.in_(pages))


def named_by(db: Session, which: ColumnElement[bool]) -> Named:
    """What some snapshots name."""
    rows = db.execute(select(Snapshot.text_id, Snapshot.group_id).where(which)).all()
    return Named({row.text_id for row in rows} - {None}, {row.group_id for row in rows} - {None})


def delete_unused(db: Session, named: Named) -> None:
    """Delete those of them that nobody names any more."""
    unused_text = ~exists().where(Snapshot.text_id == Text.id)
    empty_group = ~exists().where(Snapshot.group_id == PageGroup.id)
    for table, which in (
        (Text, (is_one_of(Text.id, named.texts) & unused_text)),
        (PageGroup, (is_one_of(PageGroup.id, named.groups) & empty_group)),
    ):
        mend = mending(db, table, which)
        db.execute(delete(table).where(which).execution_options(synchronize_session=False))
        mend()
    groups.refresh(db, named.groups)


def mending(db: Session, table: type[Any], which: ColumnElement[bool]) -> Callable[[], None]:
    """What is to be done when rows of a table are deleted, so that words, links and counts stay true."""
    if table is Text:
        titles = list(db.scalars(select(Text.title).where(which)))
        return lambda: similar.forget_unused(db, titles)
    if table is PageGroup:
        going = select(PageGroup.id).where(which)
        counts: Counter[int] = Counter()
        for targets in db.scalars(select(Outlink.targets).where(Outlink.group_id.in_(going))):
            counts.subtract(groups.unpacked(targets))
        return lambda: groups.add_to_counts(db, counts)
    if table is Snapshot:
        found = db.scalars(select(Snapshot.group_id).where(which).distinct())
        touched = [group for group in found if group is not None]
        return lambda: groups.refresh(db, touched)
    return lambda: None


def is_one_of(key: InstrumentedAttribute[int], ids: set[int]) -> ColumnElement[bool]:
    """Whether a row is one of these; they may be more than a statement may have parameters."""
    return key.in_(bindparam(None, sorted(ids), expanding=True, literal_execute=True))
