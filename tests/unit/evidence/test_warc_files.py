"""The rows of WARC files and of the answers and pages in them: what repeats what, what is gone or damaged."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import select, update

from crawler.db.models import Page, Record, WarcFile
from crawler.evidence import recorded_pages
from crawler.evidence.bodies import Finding
from crawler.evidence.recorded_pages import count_recorded, examine_recorded
from crawler.evidence.warc_files import WarcRows, note_erasure
from crawler.evidence.warc_shelf import FileFacts
from crawler.evidence.warc_tools import Erasure
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.written import a_file, a_record
from tests.unit.views.rows import a_page, a_session

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.warc.messages import Exchange


AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
FACTS = FileFacts(
    path="a.warc.gz", size_bytes=100, sha256="a" * 64, records=3, first_at=AT, last_at=AT, cut_bytes=0
)


def rows(database: Database) -> list[WarcFile]:
    """All of them."""
    with database.read() as db:
        return list(db.scalars(select(WarcFile).order_by(WarcFile.id)))


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


ONE, TWO = '"one"', '"two"'
MAY, JUNE = "Fri, 01 May 2026 00:00:00 GMT", "Mon, 01 Jun 2026 00:00:00 GMT"


def version(number: int, **headers: Any) -> Exchange:
    """A page of a day."""
    return exchange(SHOP, f"<p>{number}", day(number), **headers)


@pytest.mark.parametrize(
    ("headers", "original"),
    [
        ({}, 2), ({"ETag": ONE}, 1), ({"ETag": f"W/{TWO}"}, 2), ({"ETag": '"three"'}, None),
        ({"Last_Modified": MAY}, 1), ({"Last_Modified": JUNE, "ETag": ONE}, 1),
        ({"Last_Modified": "Thu, 02 Apr 2026 00:00:00 GMT"}, None),
    ],
)  # fmt: skip
def test_it_repeats_its_version(
    database: Database, tmp_path: Path, headers: dict[str, Any], original: int | None
) -> None:
    """By its ETag, else by its date, else whatever was there last; never what came later."""
    numbers = record(
        database, tmp_path, version(1, ETag=ONE, Last_Modified=MAY), version(2, ETag=TWO, Last_Modified=JUNE),
        exchange(SHOP, "", day(3), status=304, **headers), version(4, ETag='"four"'),
        exchange(f"{SHOP}other", "", day(3), status=304, **headers),
    )  # fmt: skip
    with database.read() as db:
        found = dict(db.execute(select(Record.id, Record.original_id)).all())
    assert found[numbers[2]] == (numbers[original - 1] if original else None)
    assert found[numbers[4]] is None


BODIES = ("one " * 50, "two " * 50, "three " * 50)


@pytest.fixture
def pages(database: Database, tmp_path: Path) -> list[int]:
    """Three pages in one file; the numbers of their records."""
    exchanges = [exchange(f"{SHOP}{number}", body, day(number + 1)) for number, body in enumerate(BODIES)]
    keys = record(database, tmp_path / "warcs", *exchanges)
    with database.write() as db:
        session = a_session(id=uuid4())
        db.add(session)
        db.flush()
        for key, body in zip(keys, BODIES, strict=True):
            db.add(a_page(session.id, record_id=key, content_sha256=sha256(body.encode()).hexdigest()))
    return keys


def findings(database: Database) -> list[Finding]:
    """In the order of the records."""
    return [each.finding for each in examine_recorded(database)]


def test_what_is_whole_is_intact(
    database: Database, pages: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, however many are read at once; a page without a digest is taken as it is."""
    monkeypatch.setattr(recorded_pages, "_ROWS", 2)
    with database.write() as db:
        assert count_recorded(db) == 3
        db.execute(update(Page).where(Page.record_id == pages[1]).values(content_sha256=None))
    assert findings(database) == [Finding.INTACT] * 3


def test_damage_is_named(database: Database, pages: list[int]) -> None:
    """Another content, bytes that cannot be read, and a file that is not there."""
    with database.write() as db:
        db.execute(update(Page).where(Page.record_id == pages[1]).values(content_sha256="0" * 64))
        [file] = db.scalars(select(WarcFile))
        last = db.get_one(Record, pages[2])
        path, offset = Path(file.folder) / file.path, last.offset or 0
    data = path.read_bytes()
    path.write_bytes(data[: offset + 20] + bytes(40) + data[offset + 60 :])
    assert findings(database) == [Finding.INTACT, Finding.CONTENT, Finding.CHECKSUM]
    path.unlink()
    assert findings(database) == [Finding.MISSING] * 3


def test_what_was_taken_while_it_was_read_is_no_damage(
    database: Database, pages: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An eraser, a cleanup or a purge was there; what is gone before is not looked at."""
    with database.write() as db:
        db.execute(update(Record).where(Record.id == pages[0]).values(gone_at=day(9)))

    def taken_meanwhile(_kept: object) -> Finding:
        with database.write() as db:
            db.execute(update(Record).values(gone_at=day(9)))
        return Finding.MISSING

    monkeypatch.setattr(recorded_pages, "_READERS", 1)
    monkeypatch.setattr(recorded_pages, "_examined", taken_meanwhile)
    assert findings(database) == []
    with database.read() as db:
        assert count_recorded(db) == 0
