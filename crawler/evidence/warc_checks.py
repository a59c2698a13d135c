"""Whether WARC files are what their rows say: digests compared, and the outcome stored in the row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from crawler.db.models import WarcFile
from crawler.evidence.bodies import Finding
from crawler.evidence.warc_files import row_of
from crawler.evidence.warc_tools import Level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.db.engine import Database
    from crawler.db.models import Record
    from crawler.evidence.warc_tools import Verified

SEALED, DAMAGED = "sealed", "damaged"
FOUND = "found"  # the entry of a row's `damage` that a failed check writes and a good one removes
_OF_CHECKS = {FOUND, "bad", "wrong"}
MOST_NAMED = 100  # damaged stretches in a file's row
OTHER_DIGEST = "the file is not what was written: its digest is another than the recorded one"


@frozen
class Damage:
    """What a check found wrong with a file."""

    why: str
    bad: Sequence[Mapping[str, Any]] = ()  # stretches that cannot be read
    wrong: Sequence[int] = ()  # offsets of records whose digests are others
    is_missing: bool = False
    is_of_all: bool = True  # else of one record: what is known of the others stays


def compared(database: Database, found: Verified, level: Level) -> Verified:
    """Compare a file with its row, and store the outcome there.

    Any failure is stored; only a check of everything clears an earlier one. A file that no row names, and one
    that is still written or was deleted, is returned as it was found.
    """
    with database.read() as db:
        row = row_of(db, Path(found.file))
    if row is None or row.state not in {SEALED, DAMAGED}:
        return found
    found = evolve(found, sha256_recorded=row.sha256)
    if found.sha256 and row.sha256 and found.sha256 != row.sha256:
        found = evolve(found, state=DAMAGED, error=OTHER_DIGEST)
    if not found.is_well:
        note_damage(database, row.id, _damage_of(found, level))
    elif level is Level.DIGESTS and row.state == DAMAGED:
        note_whole(database, row.id)
    return found


def _damage_of(found: Verified, level: Level) -> Damage:
    is_missing = found.state == "missing"
    parts = [
        f"the file is missing: {found.error}" if is_missing else found.error or "",
        f"stretches that cannot be read: {found.records_bad}" if found.bad else "",
        f"records that are not what their digests say: {len(found.wrong)}" if found.wrong else "",
    ]
    bad = [{"offset": each.offset, "length": each.length, "reason": each.reason} for each in found.bad]
    return Damage(
        "; ".join(filter(None, parts)), bad, found.wrong, is_missing=is_missing,
        is_of_all=level is Level.DIGESTS,
    )  # fmt: skip


def note_damage(database: Database, file_id: int, damage: Damage) -> None:
    """Have a file's row say that it is damaged, where, and since when that is known."""
    with database.write() as db:
        row = db.get(WarcFile, file_id)
        if row is None or row.state not in {SEALED, DAMAGED}:
            return
        before = row.damage or {}
        said = {"at": db.now.isoformat(), "why": damage.why, "missing": damage.is_missing}
        bad, wrong = list(damage.bad), list(damage.wrong)
        if not damage.is_of_all:
            bad = [*before.get("bad", ()), *(each for each in bad if each not in before.get("bad", ()))]
            wrong = [*before.get("wrong", ()), *wrong]
        named = {"bad": bad[:MOST_NAMED], "wrong": wrong[:MOST_NAMED]}
        row.damage = {**_beside_checks(row), FOUND: said, **named}
        row.state, row.records_bad = DAMAGED, len(bad)


def note_whole(database: Database, file_id: int) -> None:
    """Have a file's row say that nothing is wrong with it any more."""
    with database.write() as db:
        row = db.get(WarcFile, file_id)
        if row is None or row.state != DAMAGED:
            return
        row.damage = _beside_checks(row) or None
        row.state, row.records_bad = SEALED, 0


def _beside_checks(row: WarcFile) -> dict[str, Any]:
    """Return what a row says of bytes that were cut off or erased."""
    return {key: value for key, value in (row.damage or {}).items() if key not in _OF_CHECKS}


def known_finding(file: WarcFile, record: Record) -> Finding:
    """Return what checks of a file found out about a record in it."""
    damage = file.damage or {}
    if file.state != DAMAGED:
        return Finding.INTACT
    if damage.get(FOUND, {}).get("missing"):
        return Finding.MISSING
    begin = record.offset or 0
    end = begin + (record.length or 1)
    bad = damage.get("bad", ())
    is_bad = any(each["offset"] < end and each["offset"] + each["length"] > begin for each in bad)
    return Finding.DAMAGED if is_bad or begin in damage.get("wrong", ()) else Finding.INTACT


def why_damaged(file: WarcFile) -> str:
    """Return why a file counts as damaged; empty where it does not."""
    if file.state != DAMAGED:
        return ""
    found = (file.damage or {}).get(FOUND, {})
    return found.get("why") or f"stretches that could not be read when it was indexed: {file.records_bad}"
