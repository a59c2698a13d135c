"""Sites: one shop is one site, whether it is captured by its source, by a job or by its domain alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from attrs import field, frozen
from sqlalchemy import delete, exists, select, update

from crawler.archive import groups, unused
from crawler.archive.groups import Links, group_key, link_key
from crawler.archive.writing import hide_repeats, take_turn
from crawler.clock import utc_now
from crawler.db import lookup
from crawler.db.models import Job, Outlink, PageGroup, RegisteredSource, Snapshot, SnapshotChange
from crawler.db.upsert import insert_into
from crawler.html.content import NOTHING_IGNORED, Ignored
from crawler.runs.sources import known_sources, load_sources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.runs.sources import Source

AT_ONCE = 200  # groups
QUIETLY = {"synchronize_session": False}


@frozen
class Sites:
    """The sources by their codes, and which of them the captures of a domain belong to."""

    sources: Mapping[str, Source] = field(factory=dict)
    own: Mapping[str, Source] = field(factory=dict)  # those of the operator's file; others claim no domain

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """Return the sites of the operator's file, and the sources that come along."""
        own = load_sources(path) if path.exists() else {}
        return cls(known_sources(path), {code.lower(): source for code, source in own.items()})

    def code_of(self, named: str) -> str:
        """Return the code of a site, which for a domain is that of the only source that has it, if any."""
        named = named.lower()
        if named in self.sources:
            return named
        mine = [code for code, source in self.own.items() if source.scope.has_domain(named)]
        return mine[0] if len(mine) == 1 else named

    def ignored(self, code: str) -> Ignored:
        """Return what of a site's pages is no part of their texts."""
        source = self.sources.get(code)
        return Ignored(source.ignore_selectors, source.ignore_text) if source else NOTHING_IGNORED

    def group_by(self, code: str) -> str:
        """Return which of a site's URLs are one page: those of one path, or of one path and query."""
        source = self.sources.get(code)
        return source.group_by if source else "query"

    def id_of(self, db: Session, code: str) -> int:
        """Return the id of a site's row, which is made where it is missing."""
        if code not in self.sources:
            found = list(db.scalars(select(RegisteredSource.id).where(lookup.of_source(code)).limit(2)))
            if len(found) == 1:
                return found[0]
        row = {**self._facts(code), "enabled": True, "created_at": utc_now(), "updated_at": utc_now()}
        db.execute(
            insert_into(db, RegisteredSource).values(row).on_conflict_do_nothing(index_elements=["code"])
        )
        return db.scalars(select(RegisteredSource.id).where(RegisteredSource.code == code)).one()

    def settle(self, database: Database) -> None:
        """Move what was captured of a domain before it had a source there; name sites by their sources."""
        has_jobs = exists().where(Job.source_id == RegisteredSource.id)
        with database.read() as db:
            unnamed = list(
                db.scalars(select(RegisteredSource).where(RegisteredSource.base_url.is_(None), ~has_jobs))
            )
        for row in unnamed:
            code = self.code_of(row.code)
            if code not in self.sources:
                continue
            with database.write() as db:
                take_turn(db)
                if code == row.code:
                    mine = update(RegisteredSource).where(RegisteredSource.id == row.id)
                    db.execute(mine.values(**self._facts(code), updated_at=utc_now()))
                else:
                    _move(db, row.id, self.id_of(db, code), self.group_by(code))

    def _facts(self, code: str) -> dict[str, str | None]:
        if (source := self.sources.get(code)) is None:
            return {"code": code, "name": code, "base_url": None, "description": None}
        return {
            "code": code, "name": source.name, "base_url": source.base_url or source.start_urls[0],
            "description": source.description or None,
        }  # fmt: skip


NO_SITES = Sites()


def _move(db: Session, before: int, after: int, group_by: str) -> None:
    """Move all captures of one site to another; changes are computed again, in the order of both."""
    old = db.execute(select(PageGroup.id, PageGroup.group_key).where(PageGroup.source_id == before)).all()
    for begin in range(0, len(old), AT_ONCE):
        some = old[begin : begin + AT_ONCE]
        keys = {row.id: group_key(row.group_key, group_by) for row in some}
        link_keys = {key: link_key(key, group_by) for key in keys.values()}
        ids = groups.ensure(db, {(after, key) for key in keys.values()}, link_keys)
        for group, key in keys.items():
            mine = update(Snapshot).where(Snapshot.group_id == group)
            db.execute(mine.values(group_id=ids[after, key], source_id=after), execution_options=QUIETLY)
        _move_links(db, {group: ids[after, key] for group, key in keys.items()})
        db.execute(delete(SnapshotChange).where(SnapshotChange.group_id.in_(keys)))
        unused.delete_unused(db, unused.Named(set(), set(keys)))
        hide_repeats(db, set(ids.values()))
        groups.refresh(db, set(ids.values()))
    db.execute(delete(RegisteredSource).where(RegisteredSource.id == before))


def _move_links(db: Session, moved: Mapping[int, int]) -> None:
    """Give the links of moved captures to their new groups, where these have no newer ones."""
    links = (
        select(PageGroup.id, PageGroup.links_at, Outlink.targets)
        .join(Outlink, Outlink.group_id == PageGroup.id)
        .where(PageGroup.id.in_(moved))
    )
    for group, at, targets in db.execute(links).all():
        if at is not None:
            groups.write_links(db, {moved[group]: Links(at, frozenset(groups.unpacked(targets)))})
