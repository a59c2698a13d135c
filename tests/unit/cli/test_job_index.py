"""`vitrine jobs index` and `vitrine worker` say by their exit codes what came of it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from crawler.cli import worker as command
from tests.unit.warc.made import exchange, made, page

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine

URL = "https://www.canada.ca/en/health-canada/{}"


def registered(seeded: Vitrine, *files: bytes) -> None:
    """Register a folder with these WARC files as job 1."""
    Path("old/warcs").mkdir(parents=True)
    for number, data in enumerate(files):
        Path(f"old/warcs/{number}.warc.gz").write_bytes(data)
    assert seeded("jobs", "register", "--source", "hc", "--output-dir", "old").code == 0


def test_a_whole_job_is_indexed_and_found(seeded: Vitrine) -> None:
    """Exit code 0, and the next step; once more, the same pages are there."""
    registered(seeded, made(*(exchange(URL.format(number), page(number)) for number in range(2)))[0])
    done = seeded("jobs", "index", "1")
    assert (done.code, "next: vitrine search" in done.err) == (0, True), done.err
    again = seeded("jobs", "index", "1", "--force", "--json")
    assert (again.code, again.document["status"], again.document["pages"]) == (0, "indexed", 2)
    assert (again.document["job"], again.document["error"], again.document["bad"]) == (1, None, 0)


def test_a_job_with_damaged_records_is_indexed_in_part(seeded: Vitrine) -> None:
    """Exit code 3."""
    data = made(*(exchange(URL.format(number), page(number)) for number in range(40)))[0]
    registered(seeded, data[:9000] + bytes(60) + data[9060:])
    done = seeded("jobs", "index", "1", "--json")
    assert (done.code, done.document["status"], done.document["bad"] > 0) == (3, "indexed", True)


def test_a_job_without_files_cannot_be_indexed(seeded: Vitrine) -> None:
    """Exit code 1, and why; it is then in no state for another attempt by a worker."""
    registered(seeded)
    done = seeded("jobs", "index", "1", "--json")
    assert (done.code, done.document["status"], done.document["cause"]) == (
        1,
        "index_failed",
        "no_warc_files",
    )


def test_a_job_in_no_state_for_it_is_a_conflict(seeded: Vitrine) -> None:
    """Exit code 5, and nothing on standard output."""
    seeded("jobs", "create", "--source", "hc")
    done = seeded("jobs", "index", "1", "--json")
    assert (done.code, done.out) == (5, "")


@pytest.mark.parametrize(("stops", "once", "code"), [(False, True, 0), (True, True, 130), (True, False, 0)])
def test_a_worker_says_how_it_ended(
    vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch, *, stops: bool, once: bool, code: int
) -> None:
    """One that works until it is stopped has done what it was to do; a job that was put back is not done."""

    class Worker:
        """Works on nothing."""

        def __init__(self, *_: object) -> None:
            self.stopping = Event()

        def run(self, **_: Any) -> None:
            """End at once."""
            if stops:
                self.stopping.set()

    monkeypatch.setattr(command, "Worker", Worker)
    monkeypatch.setattr(command, "opened", lambda _: nullcontext(SimpleNamespace(database=None, blobs=None)))
    done = vitrine("worker", *(["--once"] if once else []))
    assert (done.code, done.out, "put back" in done.err) == (code, "", stops)
