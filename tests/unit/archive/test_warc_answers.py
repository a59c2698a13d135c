"""What a job's WARC files hold for an index: which records are answers and pages, and what cannot be read."""

from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from sqlalchemy import select

from crawler.archive import warc_answers
from crawler.archive.warc_answers import UNDECODABLE, VANISHED, batches, files_of
from crawler.db.models import WarcFile
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
    shouted = evolve(JUG, url="HTTPS://SHOP.example/jug", content_type="application/xhtml+xml")
    strange = [evolve(JUG, url=url) for url in ("javascript:x", "file:///etc/passwd", "httpsx://x/", "dns:x")]
    batches = read(database, job, tmp_path, [JUG, *strange, picture, untyped, shouted])
    found = answers(batches)
    assert [(each.url, each.is_page) for each in found] == [
        (JUG.url, True), (picture.url, False), (untyped.url, True), (shouted.url, True),
    ]  # fmt: skip
    bodies = [each.question and each.question.body for each in found]
    assert bodies == [JUG.body.encode(), None, b"<p>words", JUG.body.encode()]  # type: ignore[union-attr]
    assert found[0].content_hash == hashlib.sha256(JUG.body.encode()).hexdigest()  # type: ignore[union-attr]
    assert (found[0].mime_type, found[0].status_code, reasons(batches)) == ("text/html", 200, [])


def test_what_an_attacker_writes_is_cut_and_stored(database: Database, job: int, tmp_path: Path) -> None:
    """Fields have bounds, and nothing in them that a database refuses."""
    odd = Page(f"{URL}/{'u' * 10_000}", "<p>words", content_type="text/html; x=" + "y" * 5_000)
    [found] = answers(read(database, job, tmp_path, [odd]))
    assert len(found.url) == warc_answers.MAX_URL_CHARS
    assert found.question is not None
    assert len(found.question.content_type) == warc_answers.MAX_FIELD_CHARS


def test_a_body_that_cannot_be_had_is_a_page_without_one(
    database: Database, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Garbled, or a bomb: it has a hash all the same, and costs nobody else."""
    monkeypatch.setattr(warc_answers, "MAX_DECODED_BYTES", 20_000)
    garbled = gzip.compress(b"")[:10] + b"\xff" * 50
    bodies = (gzip.compress(b"<p>words"), garbled, gzip.compress(bytes(40_000)))
    pages = [Page(f"{URL}/{n}", body, headers=GZIP) for n, body in enumerate(bodies)]
    found = answers(read(database, job, tmp_path, [*pages, JUG]))
    assert [each.problem for each in found] == ["", UNDECODABLE, UNDECODABLE, ""]
    assert [each.question is None for each in found] == [False, True, True, False]
    assert {len(each.content_hash) for each in found} == {64}


def test_a_page_longer_than_is_kept_is_read_again(
    database: Database, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where it lies; nothing of it is missing."""
    monkeypatch.setattr(warc_answers, "WHOLE_BYTES", 300)
    long = Page(f"{URL}/long", b"<p>" + b"word " * 1_000)
    found = answers(read(database, job, tmp_path, [long, JUG]))
    assert [len(each.question.body) for each in found if each.question] == [5_003, len(JUG.body)]


@pytest.mark.parametrize(
    ("limit", "most", "sizes"),
    [
        ("AT_ONCE", 2, [2, 2, 2, 0]),
        ("BATCH_BYTES", 3 * len(JUG.body), [3, 3, 0]),
        ("ROWS_AT_ONCE", 4, [4, 2]),
    ],
)
def test_batches_are_bounded(
    database: Database, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    limit: str, most: int, sizes: list[int],
) -> None:  # fmt: skip
    """By pages, by bytes and by rows; the last one of each file says so, though it is empty."""
    monkeypatch.setattr(warc_answers, limit, most)
    found = read(database, job, tmp_path, [evolve(JUG, url=f"{URL}/{number}") for number in range(6)])
    assert [len(each.answers) for each in found] == sizes
    assert [each.is_last for each in found] == [False] * (len(sizes) - 1) + [True]


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
