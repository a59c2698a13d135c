"""The rows of WARC files say what is in them, once they are whole, and what was taken out."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve
from sqlalchemy import select

from crawler.db.models import Record, WarcFile
from crawler.evidence.warc_files import WarcRows, note_erasure
from crawler.evidence.warc_shelf import FileFacts
from crawler.evidence.warc_tools import Erasure
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.written import a_file, a_record

if TYPE_CHECKING:
    import pytest

    from crawler.db.engine import Database

AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
FACTS = FileFacts(
    path="a.warc.gz", size_bytes=100, sha256="a" * 64, records=3, first_at=AT, last_at=AT, cut_bytes=0
)


def rows(database: Database) -> list[WarcFile]:
    """All of them."""
    with database.read() as db:
        return list(db.scalars(select(WarcFile).order_by(WarcFile.id)))


def test_a_file_is_open_until_it_is_whole(database: Database, tmp_path: Path) -> None:
    """Then its row says what is in it."""
    files = WarcRows(database)
    number = files.opened(tmp_path, "a.warc.gz", None)
    assert [(row.id, row.state, row.sealed_at) for row in rows(database)] == [(number, "open", None)]
    files.sealed(tmp_path, FACTS)
    [row] = rows(database)
    assert (row.state, row.records, row.sha256, row.damage) == ("sealed", 3, "a" * 64, None)


def test_a_file_that_nothing_was_in_is_gone(database: Database, tmp_path: Path) -> None:
    """And one that nobody had written down is written only if there is something in it."""
    files = WarcRows(database)
    empty = evolve(FACTS, size_bytes=0, records=0)
    files.sealed(tmp_path, empty)
    assert rows(database) == []
    files.opened(tmp_path, "a.warc.gz", None)
    files.sealed(tmp_path, empty)
    files.sealed(tmp_path, evolve(FACTS, path="b.warc.gz", cut_bytes=7))
    [gone, found] = rows(database)
    assert (gone.state, gone.gone_why, found.state) == ("gone", "empty", "sealed")
    assert found.damage == {"cut_bytes": 7, "why": "its writer died"}


def test_a_folder_has_one_name(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever its writer stands."""
    monkeypatch.chdir(tmp_path)
    files = WarcRows(database)
    files.opened(Path("warcs"), "a.warc.gz", None)
    files.sealed(tmp_path / "warcs", FACTS)
    assert [(row.folder, row.state) for row in rows(database)] == [(str(tmp_path / "warcs"), "sealed")]


def test_what_repeats_an_answer_names_it(database: Database, tmp_path: Path) -> None:
    """Though both are written at once."""
    same = [exchange(f"{SHOP}p", "the same", day(number)) for number in (1, 2, 3)]
    numbers = record(database, tmp_path / "warcs", *same, revisits="url")
    with database.read() as db:
        found = {row.id: (row.kind, row.original_id) for row in db.scalars(select(Record))}
    first = numbers[0]
    assert [found[number] for number in numbers] == [
        ("response", None),
        ("revisit", first),
        ("revisit", first),
    ]


def test_an_erasure_is_noted_beside_those_before(database: Database, tmp_path: Path) -> None:
    """The records are gone, others stay; a file that no row names is nobody's."""
    with database.write() as db:
        file = a_file(db, folder=str(tmp_path), path="a.warc.gz", damage={"erased": [{"why": "before"}]})
        for offset in (0, 10, 20):
            a_record(db, warc_file_id=file.id, offset=offset)
        a_record(db, offset=10)
    gone = ({"offset": 10}, {"offset": 20})
    done = Erasure("a.warc.gz", "a URL", gone, is_done=True, sha256_before=None, sha256="c" * 64)
    with database.write() as db:
        note_erasure(db, tmp_path / "a.warc.gz", done, "a court")
        note_erasure(db, tmp_path / "unknown.warc.gz", done, "a court")
    row = rows(database)[0]
    assert row.sha256 == "c" * 64
    assert row.damage is not None
    assert [each["why"] for each in row.damage["erased"]] == ["before", "a court"]
    with database.read() as db:
        there = db.scalars(select(Record.offset).where(Record.gone_at.is_(None)).order_by(Record.offset))
        assert list(there) == [0, 10]
