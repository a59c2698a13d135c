"""What a crawl tells of its sessions, what it exits with, and that it closes what it leaves open."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from crawler.capture.failures import Cause, Summary
from crawler.crawl.answers import REFUSED
from crawler.errors import ExitCode
from crawler.extensions.sessions import Sessions
from crawler.sessions.outcome import Status
from tests.unit.components import awaited, crawl_parts

if TYPE_CHECKING:
    from tests.unit.components import Parts


class Readers:
    """Readers that remember that they were closed."""

    is_closed = False

    async def close(self) -> None:
        """Remember it."""
        self.is_closed = True


@pytest.fixture
def parts() -> Parts:
    """A crawl with readers."""
    made = crawl_parts()
    made.context.readers = Readers()
    return made


def ended(status: Status, summary: Summary | None = None) -> dict[str, Any]:
    """What is told of a session's end."""
    return {"session": "s", "status": status, "summary": summary, "cause": None}


def closed(parts: Parts, *ends: dict[str, Any], reason: str = "finished", queued: int | None = None) -> int:
    """The exit code of a crawl whose sessions ended like that."""
    sessions = parts.make(Sessions)
    parts.visits.tell("queued", sessions=["s"] * (len(ends) if queued is None else queued))
    for end in ends:
        parts.visits.tell("ended", **end)
    awaited(sessions.spider_closed(reason))
    return sessions.exit_code()


DONE, FAILED = ended(Status.COMPLETED), ended(Status.FAILED, Summary.CRAWL_FAILED)


def test_a_crawl_that_could_ask_for_nothing_is_not_done(parts: Parts) -> None:
    """Its spider broke before its first request, or all that it asked for was refused."""
    sessions = parts.make(Sessions)
    awaited(sessions.spider_closed("start_error"))
    assert sessions.exit_code() == ExitCode.FAILED
    awaited(sessions.spider_closed("finished"))
    assert sessions.exit_code() == ExitCode.DONE
    parts.crawler.stats.inc_value(REFUSED)
    assert sessions.exit_code() == ExitCode.FAILED
    assert closed(parts, DONE) == ExitCode.DONE


@pytest.mark.parametrize(
    ("ends", "how", "code"),
    [
        ([DONE, DONE], {}, ExitCode.DONE),
        ([DONE, FAILED], {}, ExitCode.PARTLY),
        ([FAILED], {}, ExitCode.FAILED),
        ([ended(Status.FAILED, Summary.LOCK_TIMEOUT)], {}, ExitCode.LOCKED),
        ([DONE], {"queued": 2}, ExitCode.PARTLY),
        ([DONE], {"reason": "shutdown"}, ExitCode.INTERRUPTED),
    ],
)
def test_a_crawl_exits_as_its_sessions_ended(
    parts: Parts, ends: list[dict[str, Any]], how: dict[str, Any], code: ExitCode
) -> None:
    """The same as `vitrine crawl`; never with 0 while a session was not begun."""
    assert closed(parts, *ends, **how) == code


def test_a_run_and_a_refusal_know_their_exit_code(parts: Parts) -> None:
    """Sessions have no part in it; why nothing was run is kept for the command to say."""
    sessions = parts.make(Sessions)
    parts.visits.tell("refused", exit_code=2, code="bad", error="no", hint="do")
    awaited(sessions.spider_closed("bad"))
    assert (sessions.exit_code(), sessions.refusal) == (2, {"code": "bad", "error": "no", "hint": "do"})


@pytest.mark.parametrize("event", ["run_ended", "cleanup_ended"])
def test_what_has_no_sessions_of_its_own_says_what_it_came_to(parts: Parts, event: str) -> None:
    """A run, which others may go on with, and a cleanup."""
    sessions = parts.make(Sessions)
    parts.visits.tell(event, exit_code=3)
    awaited(sessions.spider_closed("finished"))
    assert sessions.exit_code() == ExitCode.PARTLY


def test_a_worker_of_a_fleet_is_meant_to_be_stopped() -> None:
    """What its sessions come to is the fleet's business."""
    parts = crawl_parts(vitrine={"FLEET": "1", "REDIS_URL": "redis://127.0.0.1:1/0"})
    parts.context.readers = Readers()
    assert closed(parts, FAILED, reason="shutdown") == ExitCode.DONE


@pytest.mark.parametrize(
    ("reason", "completed"),
    [("finished", True), ("shutdown", False), ("start_error", False), ("enough", True)],
)
def test_what_is_open_is_closed(parts: Parts, reason: str, completed: bool) -> None:  # ruff: ignore[boolean-type-hint-positional-argument] - a parameter of the test
    """Sessions first, then the readers."""
    awaited(parts.make(Sessions).spider_closed(reason))
    assert (parts.visits.closed, parts.context.readers.is_closed) == ([completed], True)


def test_a_crawl_that_ignores_robots_txt_is_warned_about() -> None:
    """Beside the log, which `vitrine crawl` does not show."""
    told: list[str] = []
    for obeys in (True, False):
        parts = crawl_parts(ROBOTSTXT_OBEY=obeys)
        sessions = parts.make(Sessions)
        parts.visits.listeners.append(lambda event, **_: told.append(event))
        sessions.engine_started()
    assert told == ["warned"]


def test_events_go_into_the_pipe_and_the_statistics() -> None:
    """A line of JSON each; a listener that has gone does not end the crawl."""
    ours, theirs = os.pipe()
    parts = crawl_parts(PROGRESS_FD=theirs)
    sessions = parts.make(Sessions)
    parts.visits.tell("queued", sessions=["a"])
    parts.visits.tell("ended", **ended(Status.FAILED, Summary.CRAWL_FAILED) | {"cause": Cause.TIMEOUT})
    with os.fdopen(ours, encoding="utf-8") as pipe:
        first, second = json.loads(pipe.readline()), json.loads(pipe.readline())
    assert first == {"event": "queued", "sessions": ["a"]}
    assert (second["event"], second["status"], second["cause"]) == ("ended", "failed", "timeout")
    parts.visits.tell("started", session="b")  # nobody reads any more
    assert sessions.pipe is not None
    sessions.pipe.close()
    os.close(theirs)
    stats = parts.crawler.stats.get_stats()
    assert stats == {
        "vitrine/sessions/queued": 1, "vitrine/sessions/failed": 1, "vitrine/sessions/started": 1,
    }  # fmt: skip


def test_a_listener_that_is_stopped_holds_nothing_up() -> None:
    """More than a pipe takes is told at once; it is all there for a listener that goes on."""
    ours, theirs = os.pipe()
    parts = crawl_parts(PROGRESS_FD=theirs)
    sessions = parts.make(Sessions)
    long = "x" * 1000
    for number in range(200):
        parts.visits.tell("tasks", finished=number, source=long)
    with os.fdopen(ours, encoding="utf-8") as pipe:
        heard = [json.loads(pipe.readline())["finished"] for _ in range(200)]
    assert heard == list(range(200))
    assert sessions.pipe is not None
    sessions.pipe.close()
    os.close(theirs)
