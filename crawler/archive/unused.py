"""What no snapshot needs any more goes with the last one: its text with the words of it, its group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import bindparam, delete, exists, select

from crawler.db.models import Page, PageGroup, Snapshot, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    rows = db.execute(select(Snapshot.text_id, Snapshot.group_id).where(Snapshot.page_id.in_(pages))).all()
    return Named({row.text_id for row in rows} - {None}, {row.group_id for row in rows} - {None})


def delete_unused(db: Session, named: Named) -> None:
    """Delete those of them that nobody names any more."""
    unused_text = ~exists().where(Snapshot.text_id == Text.id)
    empty_group = ~exists().where(Snapshot.group_id == PageGroup.id)
    for gone in (
        delete(Text).where(_is_one_of(Text.id, named.texts), unused_text),
        delete(PageGroup).where(_is_one_of(PageGroup.id, named.groups), empty_group),
    ):
        db.execute(gone.execution_options(synchronize_session=False))


def _is_one_of(key: InstrumentedAttribute[int], ids: set[int]) -> ColumnElement[bool]:
    # They may be more than a statement may have parameters.
    return key.in_(bindparam(None, sorted(ids), expanding=True, literal_execute=True))
