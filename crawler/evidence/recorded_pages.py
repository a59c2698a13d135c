"""Pages that lie in WARC files, read again and compared with what was recorded when they were written."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import func, select

from crawler.db.models import Page, Record, WarcFile
from crawler.errors import CrawlerError
from crawler.evidence.bodies import BodyMissingError, Finding, body_in
from crawler.evidence.warc_checks import Damage, note_damage
from crawler.warc.members import BadRecordError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Row, Select
    from sqlalchemy.orm import Session

    from crawler.db.engine import Database

    Kept = Row[Page, Record, WarcFile]

_ROWS = 200
_READERS = 4
_DAMAGED = {Finding.CHECKSUM, Finding.CONTENT}


@frozen
class ExaminedPage:
    """A page, where it lies, and what was found there."""

    page: Page
    record: Record
    file: WarcFile
    finding: Finding


def count_recorded(db: Session) -> int:
    """How many there are to be read."""
    return db.scalar(_recorded().with_only_columns(func.count(Page.id))) or 0


def examine_recorded(database: Database) -> Iterator[ExaminedPage]:
    """Every page whose record is not gone, in the order of the records; no transaction is open meanwhile.

    The row of a file that has a damaged page says so from then on.
    """
    last = 0
    with ThreadPoolExecutor(_READERS) as readers:
        while rows := _some(database, last):
            last = rows[-1][1].id
            findings = list(readers.map(_examined, rows))
            doubted = [
                row[1].id for row, found in zip(rows, findings, strict=True) if found != Finding.INTACT
            ]
            gone = _gone_meanwhile(database, doubted)
            for (page, record, file), finding in zip(rows, findings, strict=True):
                if record.id not in gone:
                    if finding in _DAMAGED:
                        note_damage(database, file.id, _damage_of(record, finding))
                    yield ExaminedPage(page, record, file, finding)


def _damage_of(record: Record, finding: Finding) -> Damage:
    stretch = {"offset": record.offset or 0, "length": record.length or 1, "reason": finding}
    return Damage(f"a page in it cannot be read as it was captured: {finding}", [stretch], is_of_all=False)


def _recorded() -> Select[Page, Record, WarcFile]:
    return (
        select(Page, Record, WarcFile)
        .join(Record, Record.id == Page.record_id)
        .join(WarcFile, WarcFile.id == Record.warc_file_id)
        .where(Record.gone_at.is_(None), WarcFile.gone_at.is_(None))
    )


def _some(database: Database, after: int) -> Sequence[Kept]:
    with database.read() as db:
        return db.execute(_recorded().where(Record.id > after).order_by(Record.id).limit(_ROWS)).all()


def _gone_meanwhile(database: Database, records: list[int]) -> set[int]:
    """What an eraser, a cleanup or a purge took while we read."""
    if not records:
        return set()
    with database.read() as db:
        still = _recorded().where(Record.id.in_(records)).with_only_columns(Record.id)
        return set(records) - set(db.scalars(still))


def _examined(kept: Kept) -> Finding:
    page, record, file = kept
    content = hashlib.sha256()
    try:
        for piece in body_in(file, record).pieces:
            content.update(piece)
    except BodyMissingError:
        return Finding.MISSING
    except (BadRecordError, OSError):
        return Finding.CHECKSUM
    except CrawlerError:  # it does not unpack
        return Finding.CONTENT
    is_same = page.content_sha256 in {None, content.hexdigest()}
    return Finding.INTACT if is_same else Finding.CONTENT
