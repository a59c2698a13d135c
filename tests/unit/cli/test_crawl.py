"""`vitrine crawl` and its kin: what is started, what is heard of it, and what that comes to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from crawler.cli import crawl as crawling
from crawler.cli.crawl import Crawl, FinishedCrawl, run_crawl
from crawler.config import load_settings
from crawler.runs.keeping import KEY, keeping_of
from tests.unit.views import rows

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine

ONE, TWO = UUID(int=1), UUID(int=2)
QUEUED = {"event": "queued", "sessions": [str(TWO), str(ONE)]}
ENDED = {
    "event": "ended", "session": str(ONE), "status": "failed", "domain": "shop.example", "url": "u",
    "summary": "[red]Crawl failed", "cause": "timeout",
}  # fmt: skip
RUN = {"event": "run", "run": 7, "source": "shop", "resumed": False}
TASKS = {
    "event": "tasks", "finished": 1, "error": 0, "refused": 0, "waiting": 2, "rate": 0.5,
    "seconds_left": 3700.0, "slowest": "shop.example",
}  # fmt: skip


def stand_in(monkeypatch: pytest.MonkeyPatch, *events: dict[str, Any], then: str = "") -> None:
    """Have a process take Scrapy's place, tell this, and end so."""
    told = "".join(json.dumps(event) + "\n" for event in events)
    script = f"import os, sys, signal; os.write(int(sys.argv[1]), {told!r}.encode()); {then}"
    monkeypatch.setattr(crawling, "_command", lambda _, fd: [sys.executable, "-c", script, str(fd)])


def never_beginning(monkeypatch: pytest.MonkeyPatch) -> list[Crawl]:
    """Have crawls come to nothing; those that were asked for."""
    asked: list[Crawl] = []

    def run_it(crawl: Crawl) -> FinishedCrawl:
        asked.append(crawl)
        return FinishedCrawl()

    monkeypatch.setattr(crawling, "run_crawl", run_it)
    return asked


def test_sessions_are_known_in_the_order_of_queueing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each end is a line beside the data, and each warning; what a site wrote in it is no markup."""
    stand_in(monkeypatch, {"event": "warned", "note": "[b]"}, QUEUED, ENDED)
    assert run_crawl(Crawl("pdp")) == FinishedCrawl(sessions=[TWO, ONE])
    assert capsys.readouterr().err == ("warning: [b]\n✗ failed  shop.example  [red]Crawl failed (timeout)\n")


def test_a_run_is_known_by_its_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its visits are not told one by one; how it goes is."""
    stand_in(monkeypatch, RUN, QUEUED, ENDED, TASKS)
    assert run_crawl(Crawl("site")) == FinishedCrawl(run=7)
    assert capsys.readouterr().err.splitlines() == [
        "begins run 7 of shop",
        "1 done, 2 waiting, 0 failed, 0.5/s, about 1 h 1 min left, slowest shop.example",
    ]


@pytest.mark.parametrize(
    ("then", "expected"),
    [
        ("sys.exit(3)", FinishedCrawl(exit_code=3)),
        ("os.kill(os.getpid(), signal.SIGKILL)", FinishedCrawl(exit_code=1)),
    ],
)
def test_how_the_process_ended_is_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], then: str, expected: FinishedCrawl
) -> None:
    """One that was killed has failed, and that is told."""
    stand_in(monkeypatch, then=then)
    assert run_crawl(Crawl("pdp")) == expected
    assert ("crawl_died" in capsys.readouterr().err) == ("kill" in then)


def test_a_refusal_brings_its_exit_code(monkeypatch: pytest.MonkeyPatch, vitrine: Vitrine) -> None:
    """The crawl has said why; nothing is added."""
    stand_in(monkeypatch, {"event": "refused", "exit_code": 5})
    done = vitrine("crawl", "pdp", "https://shop.example/", "--json")
    assert (done.code, done.out, done.err) == (5, "", "")


def test_an_interruption_is_passed_on_and_waited_for(
    monkeypatch: pytest.MonkeyPatch, vitrine: Vitrine
) -> None:
    """And ends with 130, however well the crawl ended."""
    waits = "signal.signal(15, lambda *_: sys.exit(0)); os.kill(os.getppid(), signal.SIGINT); signal.pause()"
    stand_in(monkeypatch, then=waits)
    before = signal.getsignal(signal.SIGINT)
    done = vitrine("crawl", "site", "https://shop.example/")
    assert (done.code, done.out) == (130, "")
    assert "what is under way is finished first" in done.err
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interruption_before_the_crawl_has_begun_reaches_it(
    monkeypatch: pytest.MonkeyPatch, vitrine: Vitrine
) -> None:
    """It is not left to itself."""
    stand_in(monkeypatch, then="signal.pause()")
    begin, crawls = subprocess.Popen, []

    def interrupted(*given: Any, **how: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        crawls.append(begin(*given, **how))
        return crawls[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    done = vitrine("crawl", "site", "https://shop.example/")
    assert done.code == 130
    assert "what is under way is finished first" in done.err
    assert crawls[0].returncode == -signal.SIGTERM


def test_what_came_of_it_is_looked_for_where_it_was_written(
    monkeypatch: pytest.MonkeyPatch, vitrine: Vitrine, database: Database, database_url: str
) -> None:
    """A setting that is passed on to the crawl holds for the look afterwards."""
    with database.write() as db:
        db.add(rows.a_session(id=ONE))
        db.add(rows.a_session(id=TWO, status="failed", error_summary="Crawl failed", cause="timeout"))
    stand_in(monkeypatch, QUEUED)
    done = vitrine("crawl", "pdp", "https://shop.example/", "--json", "-s", f"DATABASE_URL={database_url}")
    assert [each["id"] for each in done.document["sessions"]] == [str(TWO), str(ONE)]
    assert done.code == 3
    assert not os.path.exists("var")  # ruff: ignore[os-path-exists] - the shortest way to say so


@pytest.mark.parametrize(
    ("line", "spider", "arguments"),
    [
        ("crawl pdp u1 u2 --mode debug", "pdp", {"url": "u1 u2", "mode": "debug"}),
        (
            "crawl pdp --urls f.txt --retention short -a x=1",
            "pdp",
            {"urls": "f.txt", "retention": "short", "x": "1"},
        ),
        ("crawl site u --max-pages 5 --depth 0", "site", {"start_url": "u", "max_pages": "5", "depth": "0"}),
        ("crawl site --source acme --resume", "site", {"source": "acme", "resume": "1"}),
    ],
)
def test_options_are_the_spiders_arguments(
    vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch, line: str, spider: str, arguments: dict[str, str]
) -> None:
    """What is not given is not passed on."""
    started = never_beginning(monkeypatch)
    assert vitrine(*line.split()).code == 1  # it never began
    assert [(each.spider, each.arguments) for each in started] == [(spider, arguments)]


@pytest.mark.parametrize("option", ["-a", "-s"])
def test_what_has_no_name_is_refused(vitrine: Vitrine, option: str) -> None:
    """Before anything starts."""
    done = vitrine("crawl", "pdp", "https://shop.example/", option, "debug")
    assert done.code == 2
    assert done.err.splitlines()[0] == f"error[usage]: Invalid {option} value, use {option} NAME=VALUE"


def test_a_session_and_a_run_are_gone_on_with_by_their_whole_names(
    vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch, database: Database, database_url: str
) -> None:
    """However they were named; unknown ones start nothing."""
    with database.write() as db:
        db.add(rows.a_session(id=UUID("abcdef00-0000-4000-8000-000000000001")))
        db.add(rows.a_run(id=7))
    started = never_beginning(monkeypatch)
    where = {"DATABASE_URL": database_url}
    vitrine("sessions", "retry", "abcdef", **where)
    vitrine("runs", "resume", "shop", **where)
    assert [each.arguments for each in started] == [
        {"session": "abcdef00-0000-4000-8000-000000000001"}, {"run_id": "7"},
    ]  # fmt: skip
    assert vitrine("sessions", "retry", "ff", **where).code == 1
    assert vitrine("runs", "resume", "8", **where).code == 1
    assert len(started) == 2


@pytest.mark.parametrize(
    ("said", "passed_on"),
    [
        ((), {"WARC_DIR": "/w"}),
        (("-s", "WARC_DIR=/x"), {"WARC_DIR": "/x"}),
        (("-s", "PAGE_STORE=files"), {"WARC_DIR": "/w", "PAGE_STORE": "files"}),
    ],
)
def test_a_run_goes_on_in_the_form_that_it_was_begun_in(
    vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch, database: Database, database_url: str,
    said: tuple[str, ...], passed_on: dict[str, str],
) -> None:  # fmt: skip
    """Whatever this shell has set; what is said in the line stands, and is the crawl's to refuse."""
    with database.write() as db:
        plan = {KEY: keeping_of(load_settings({"WARC_DIR": "/w"}))}
        db.add(rows.a_run(id=7, plan=plan))
    started = never_beginning(monkeypatch)
    vitrine("runs", "resume", "7", *said, DATABASE_URL=database_url)
    assert [each.settings for each in started] == [passed_on]
