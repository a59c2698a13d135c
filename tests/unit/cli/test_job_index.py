"""`vitrine jobs index` tells what came of it in words, in JSON and by its exit code."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from crawler.archive.warc_indexing import JobResult
from crawler.cli import job_index as command
from crawler.jobs.indexing import Indexed
from crawler.jobs.lifecycle import JobStateError

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine

RESULT = JobResult(files=2, answers=9, pages=7, unchanged=1)
AT = datetime(2026, 5, 4, tzinfo=UTC)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was asked for; the first thing in it is what comes of it, or is raised."""
    said: list[Any] = []

    def index(_stores: object, _settings: object, job: str, *, again: bool) -> Indexed:
        said.append((job, again))
        if isinstance(said[0], Exception):
            raise said[0]
        return said[0]  # type: ignore[no-any-return]

    monkeypatch.setattr(command, "_index", index)
    monkeypatch.setattr(command, "opened", lambda _settings: nullcontext())
    return said


@pytest.mark.parametrize(
    ("came", "code", "words"),
    [
        (Indexed(7, RESULT, "indexed"), 0, "next: vitrine search"),
        (Indexed(7, JobResult(pages=1, bad=1), "indexed"), 3, "indexed"),
        (Indexed(7, None, "index_failed", "no WARC files", "no_warc_files"), 1, "no WARC files"),
        (Indexed(7, RESULT, "index_failed", "too much is bad"), 1, "too much is bad"),
        (Indexed(7, None, "completed"), 130, "completed"),
        (Indexed(7, JobResult(), "indexed", emptied_at=AT), 0, "a purge took the last"),
    ],
)
def test_what_came_of_it(vitrine: Vitrine, asked: list[Any], came: Indexed, code: int, words: str) -> None:
    """The exit code is the same with JSON, and what is told to people is none of a program's."""
    asked.append(came)
    plain = vitrine("jobs", "index", "7")
    assert (plain.code, words in plain.out + plain.err) == (code, True), plain
    coded = vitrine("jobs", "index", "7", "--force", "--json")
    assert (coded.code, coded.document["job"], coded.document["status"]) == (code, 7, came.status)
    assert coded.document["error"] == (came.error or None)
    assert coded.document.get("pages") == (came.result.pages if came.result else None)
    assert asked[1:] == [("7", False), ("7", True)]


def test_nothing_is_searched_for_where_nothing_is_left(vitrine: Vitrine, asked: list[Any]) -> None:
    """No next step that finds nothing."""
    asked.append(Indexed(7, JobResult(), "indexed", emptied_at=AT))
    done = vitrine("jobs", "index", "7")
    assert "vitrine search" not in done.out + done.err


def test_a_job_in_no_state_for_it_is_a_conflict(vitrine: Vitrine, asked: list[Any]) -> None:
    """Nothing on standard output."""
    asked.append(JobStateError("job 7 is being indexed already"))
    done = vitrine("jobs", "index", "7", "--json")
    assert (done.code, done.out) == (5, "")
    assert "being indexed already" in done.err
