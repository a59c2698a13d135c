"""What a job's WARC files hold for an index: which records are answers and pages, and what cannot be read."""

from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from sqlalchemy import select

from crawler.archive import warc_answers
from crawler.archive.warc_answers import NO_DATE, UNDECODABLE, VANISHED, batches, files_of, is_html
from crawler.db.models import Record, WarcFile
from tests.unit.archive.stored import crawled_job
from tests.unit.archive.warcs import Page, write_warc

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.archive.warc_answers import Answer, Batch
    from crawler.db.engine import Database

pytestmark = [
    pytest.mark.parametrize("database_url", ["sqlite"], indirect=True),  # files are the same beside any
    # warcio leaves its temporary files to whoever comes along.
    pytest.mark.filterwarnings(
        "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning",
        "ignore:Unclosed:ResourceWarning",
    ),
]
URL = "https://shop.example"
JUG = Page(f"{URL}/jug", "<title>Jug</title><p>A jug")
GZIP = (("Content-Encoding", "gzip"),)


@pytest.fixture
def job(database: Database, tmp_path: Path) -> int:
    """A job whose crawl is over; its files lie in the test's folder."""
    return crawled_job(database, tmp_path / "job").job_id


def read(
    database: Database, job: int, folder: Path, pages: Sequence[Page] = (), *, again: bool = False
) -> list[Batch]:
    """What is found of some pages, or of what lies there."""
    if pages:
        write_warc(folder / "job" / "warcs" / "a.warc.gz", pages)
    there, _ = files_of(database, folder / "job", job)
    return list(batches(database, there, again=again))


def answers(found: Sequence[Batch]) -> list[Answer]:
    """All of them."""
    return [each for batch in found for each in batch.answers]


def reasons(found: Sequence[Batch]) -> list[str]:
    """Why something cannot be read."""
    return [each.reason for batch in found for each in batch.bad]


def test_answers_are_told_from_what_is_none(database: Database, job: int, tmp_path: Path) -> None:
    """Pages come with their bodies, others without; what has no address of the web does not come."""
    picture = Page(f"{URL}/i.png", b"\x89PNG", content_type="image/png")
    untyped = Page(f"{URL}/untyped", "<p>words", content_type=None)
    found = answers(read(database, job, tmp_path, [JUG, Page("dns:shop.example", "1"), picture, untyped]))
    assert [(each.url, each.is_page) for each in found] == [
        (JUG.url, True), (picture.url, False), (untyped.url, True),
    ]  # fmt: skip
    assert [each.question and each.question.body for each in found] == [JUG.body.encode(), None, b"<p>words"]  # type: ignore[union-attr]
    assert found[0].content_hash == hashlib.sha256(JUG.body.encode()).hexdigest()  # type: ignore[union-attr]
    assert (found[0].mime_type, found[0].status_code) == ("text/html", 200)


@pytest.mark.parametrize("url", ["HTTPS://SHOP.example/jug", "Http://shop.example/"])
def test_a_scheme_is_one_in_any_case(database: Database, job: int, tmp_path: Path, url: str) -> None:
    """RFC 3986, 3.1: other writers keep what a page's links said."""
    [found] = answers(read(database, job, tmp_path, [evolve(JUG, url=url)]))
    assert found.url == url


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "httpsx://shop.example/", "urn:x"]
)
def test_other_schemes_are_not_looked_at(database: Database, job: int, tmp_path: Path, url: str) -> None:
    """Neither as a page nor as damage."""
    found = read(database, job, tmp_path, [evolve(JUG, url=url)])
    assert (answers(found), reasons(found)) == ([], [])


def test_what_an_attacker_writes_is_cut_and_stored(database: Database, job: int, tmp_path: Path) -> None:
    """Fields have bounds, and nothing in them that a database refuses."""
    odd = Page(f"{URL}/{'u' * 10_000}", "<p>words", content_type="text/html; x=" + "y" * 5_000)
    [found] = answers(read(database, job, tmp_path, [odd]))
    assert len(found.url) == warc_answers.MAX_URL_CHARS
    assert found.question is not None
    assert len(found.question.content_type) == warc_answers.MAX_FIELD_CHARS


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (gzip.compress(b"<p>words"), ""),
        (gzip.compress(b"")[:10] + b"\xff" * 50, UNDECODABLE),
        (gzip.compress(bytes(40_000)), UNDECODABLE),
    ],
    ids=["packed", "garbled", "a bomb"],
)
def test_a_body_that_cannot_be_had_is_a_page_without_one(
    database: Database, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, problem: str
) -> None:
    """It has a hash all the same, and costs nobody else."""
    monkeypatch.setattr(warc_answers, "MAX_DECODED_BYTES", 20_000)
    found = answers(read(database, job, tmp_path, [Page(f"{URL}/odd", body, headers=GZIP), JUG]))
    assert [each.problem for each in found] == [problem, ""]
    assert [each.question is None for each in found] == [bool(problem), False]
    assert all(len(each.content_hash) == 64 for each in found)


def test_a_page_longer_than_is_kept_is_read_again(
    database: Database, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where it lies; nothing of it is missing."""
    monkeypatch.setattr(warc_answers, "WHOLE_BYTES", 300)
    long = Page(f"{URL}/long", b"<p>" + b"word " * 1_000)
    found = answers(read(database, job, tmp_path, [long, JUG]))
    assert [len(each.question.body) for each in found if each.question] == [5_003, len(JUG.body)]


def test_an_answer_without_a_date_is_bad_and_no_page(database: Database, job: int, tmp_path: Path) -> None:
    """It is recorded, and counted as what cannot be read."""
    found = read(database, job, tmp_path, [evolve(JUG, at="never"), evolve(JUG, url=f"{URL}/two")])
    assert [each.question is None for each in answers(found)] == [True, False]
    assert reasons(found) == [NO_DATE]


def test_batches_end_where_one_is_enough(
    database: Database, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By pages, by bytes and by rows; the last one of each file says so, though it is empty."""
    pages = [evolve(JUG, url=f"{URL}/{number}") for number in range(6)]
    monkeypatch.setattr(warc_answers, "AT_ONCE", 2)
    by_pages = read(database, job, tmp_path, pages)
    assert [(len(each.answers), each.is_last) for each in by_pages] == [(2, False)] * 3 + [(0, True)]
    assert [each.read_to for each in by_pages[:3]] == sorted(each.read_to for each in by_pages[:3])
    monkeypatch.setattr(warc_answers, "AT_ONCE", 100)
    monkeypatch.setattr(warc_answers, "BATCH_BYTES", 3 * len(JUG.body))
    assert [len(each.answers) for each in read(database, job, tmp_path)] == [3, 3, 0]
    monkeypatch.setattr(warc_answers, "BATCH_BYTES", 10**9)
    monkeypatch.setattr(warc_answers, "ROWS_AT_ONCE", 4)
    assert [len(each.answers) for each in read(database, job, tmp_path)] == [4, 2]


@pytest.mark.parametrize("body", [b"", b"not a WARC file at all", gzip.compress(b"neither"), b"\x1f\x8b\xff"])
def test_a_file_of_noise_has_no_answers(database: Database, job: int, tmp_path: Path, body: bytes) -> None:
    """It is said what cannot be read, as long as there is anything."""
    path = tmp_path / "job" / "warcs" / "noise.warc.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(body)
    found = read(database, job, tmp_path)
    assert answers(found) == []
    assert bool(reasons(found)) is bool(body)


def test_a_file_that_vanishes_meanwhile_is_one_bad_place(
    database: Database, job: int, tmp_path: Path
) -> None:
    """Others are read."""
    folder = tmp_path / "job" / "warcs"
    write_warc(folder / "a.warc.gz", [JUG])
    write_warc(folder / "b.warc.gz", [evolve(JUG, url=f"{URL}/b")])
    there, _ = files_of(database, tmp_path / "job", job)
    (folder / "a.warc.gz").unlink()
    found = list(batches(database, there, again=False))
    assert [each.url for each in answers(found)] == [f"{URL}/b"]
    [reason] = reasons(found)
    assert reason.startswith(VANISHED)
    assert [each.is_last for each in found] == [True, True]


def test_files_have_one_row_each_and_those_that_are_missed_are_told(
    database: Database, job: int, tmp_path: Path
) -> None:
    """One that comes back is there again; one that is being written, or known to be gone, is not missed."""
    folder = tmp_path / "job" / "warcs"
    write_warc(folder / "a.warc.gz", [JUG])
    for state in ("sealed", "open", "gone"):
        with database.write() as db:
            gone_at = db.now if state == "gone" else None
            row = WarcFile(
                job_id=job, folder=str(tmp_path / "job"), path=f"warcs/{state}.warc.gz", state=state,
                created_at=db.now, size_bytes=9, gone_at=gone_at,
            )  # fmt: skip
            db.add(row)
    for _ in range(2):
        there, lost = files_of(database, tmp_path / "job", job)
        assert [row.path for row in there] == ["warcs/a.warc.gz"]
        assert [row.path for row in lost] == ["warcs/sealed.warc.gz"]
    write_warc(folder / "gone.warc.gz", [JUG])
    there, _ = files_of(database, tmp_path / "job", job)
    assert {(row.path, row.state, row.gone_at) for row in there} == {
        ("warcs/a.warc.gz", "sealed", None), ("warcs/gone.warc.gz", "sealed", None),
    }  # fmt: skip
    with database.read() as db:
        assert len(db.scalars(select(WarcFile.id)).all()) == 4


def record_of(answer: Answer, file: WarcFile, **changed: Any) -> Record:
    """The row that an earlier pass has written of it."""
    said = {name: getattr(answer, mine) for name, mine in warc_answers.SAME.items()}
    return Record(warc_file_id=file.id, offset=answer.offset, **{**said, **changed})


@pytest.mark.parametrize(
    ("changed", "is_known"),
    [({}, True), ({"status_code": 404}, False), ({"payload_digest": "sha1:other"}, False)],
)
def test_what_is_known_is_not_written_again(
    database: Database, job: int, tmp_path: Path, *, changed: dict[str, Any], is_known: bool
) -> None:
    """A row that says anything else counts as none; a page without a snapshot is still to be read."""
    [batch] = read(database, job, tmp_path, [JUG])
    with database.write() as db:
        row = record_of(batch.answers[0], batch.file, **changed)
        db.add(row)
        db.flush()
        number = row.id
    [found] = answers(read(database, job, tmp_path))
    assert found.record_id == (number if is_known else None)
    assert found.question is not None
    assert not found.is_unchanged


@pytest.mark.parametrize(
    ("mime", "expected"),
    [(None, True), ("text/html", True), ("application/xhtml+xml", True), ("image/png", False), ("", False)],
)
@pytest.mark.usefixtures("database_url")
def test_which_types_are_pages(mime: str | None, *, expected: bool) -> None:
    """One that is not told may be."""
    assert is_html(mime) is expected
