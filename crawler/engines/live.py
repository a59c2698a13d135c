"""Has a crawl of our own look at one page now, in a process of its own, and takes what it says of it.

So the look passes what every request passes: the domain's lock and delay, robots.txt, the egress policy.
"""

from __future__ import annotations

import os
import subprocess  # ruff: ignore[suspicious-subprocess-import] - crawls are processes of their own
import sys
import threading
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.engines.process import event_in
from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIVE_SECONDS = 30.0  # of the whole, the start of the process and the wait for the domain included
END_SECONDS = 5.0
MAX_TOLD_BYTES = 4 * 1024 * 1024
TIMEOUT, DIED = "timeout", "crashed"


class LiveRefusedError(CrawlerError):
    """The page cannot be looked at now."""

    code = "live_refused"
    http_status = 503


@frozen(kw_only=True)
class LivePage:
    """A page as it is now; with a `cause` it says nothing."""

    cause: str | None = None
    url: str | None = None  # where redirects led to
    status_code: int | None = None
    fetched_at: datetime | None = None
    problem: str = ""
    title: str = ""
    text: str = ""
    headings: tuple[int, ...] = ()
    is_cut: bool = False


def look_at(snapshot: int, seconds: float = LIVE_SECONDS) -> LivePage:
    """The page of a snapshot as it is now; why it could not be had is its cause."""
    read_end, write_end = os.pipe()
    command = [
        sys.executable, "-P", "-m", "scrapy", "crawl", "live", "-a", f"snapshot={snapshot}",
        "-s", f"PROGRESS_FD={write_end}", "-s", "LOG_LEVEL=ERROR", "-s", "FLEET=0",
    ]  # fmt: skip
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
    process = subprocess.Popen(  # ruff: ignore[subprocess-without-shell-equals-true] - our own words
        command, pass_fds=[write_end], env=environment, stdin=subprocess.DEVNULL, start_new_session=True
    )
    os.close(write_end)
    is_late = threading.Event()
    alarm = threading.Timer(seconds, _end, (process, is_late))
    alarm.start()
    try:
        with os.fdopen(read_end, "rb") as told:
            found = page_in(told)
        process.wait()
    finally:
        alarm.cancel()
        _end(process)
    return found or LivePage(cause=TIMEOUT if is_late.is_set() else DIED)


def page_in(told: Iterable[bytes]) -> LivePage | None:
    """What a crawl tells of the page; None where it tells nothing, an error where it did not begin."""
    found, ended, size = None, "", 0
    for line in told:
        size += len(line)
        if size > MAX_TOLD_BYTES:
            break
        event = event_in(line)
        if event.get("event") == "live":
            found = _page(event)
        elif event.get("event") == "ended":
            ended = event.get("cause") or ""
        elif event.get("event") == "refused":
            raise LiveRefusedError(str(event.get("error", "")), hint=str(event.get("hint", "")))
    return found or (LivePage(cause=ended) if ended else None)


def _page(event: Mapping[str, Any]) -> LivePage:
    at = event.get("fetched_at")
    return LivePage(
        cause=event.get("cause"), url=event.get("url"), status_code=event.get("status_code"),
        fetched_at=datetime.fromisoformat(at) if at else None, problem=event.get("problem", ""),
        title=event.get("title", ""), text=event.get("text", ""), headings=tuple(event.get("headings", ())),
        is_cut=bool(event.get("is_cut")),
    )  # fmt: skip


def _end(process: subprocess.Popen[bytes], is_late: threading.Event | None = None) -> None:
    """Have it end as an interruption does, which lets go of its domain; by force if it does not."""
    if process.poll() is not None:
        return
    if is_late is not None:
        is_late.set()
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
        return
    process.kill()
