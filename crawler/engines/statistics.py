"""What engines say of their progress: one kind of line for all, and what cannot be one. Pure."""

from __future__ import annotations

import json
from typing import Any

from attrs import frozen

CONTEXT, MESSAGE = "crawlStatus", "Crawl statistics"
TOOL_CONTEXT, END_MESSAGE = "archiveTool", "Archive ended"
MAX_LINE_CHARS = 64 * 1024
MAX_COUNT = 2**53
_TIMEOUT_WORDS = ("timeout", "timed out")
_HTTP_WORDS = ("err_http", "http error", "status code", "page load failed")
_COMPLAINTS = {"error", "warn", "warning", "fatal"}


@frozen
class Statistics:
    """How far a crawl is."""

    crawled: int
    total: int
    failed: int
    pending: int
    waiting: bool  # for what a site asked for, which is no standstill
    run: int | None  # of the engine `vitrine`
    raw: dict[str, Any]  # all that the line said

    @property
    def is_finishing(self) -> bool:
        """Whether all pages are through; what follows brings no page."""
        return self.total > 0 and self.crawled + self.failed >= self.total and not self.pending


@frozen
class ToolEnd:
    """The tool's last word: what its archive came to."""

    stage: str
    zim: str | None


def statistics_of(line: str) -> Statistics | None:
    """The statistics that a line is; None for any other.

    What an archived page prints to its console stands inside another line, or is of another context.
    """
    said = _parsed(line, MESSAGE)
    if said is None or said.get("context") != CONTEXT:
        return None
    details = said.get("details")
    if not isinstance(details, dict) or not isinstance(details.get("crawled"), int):
        return None
    run = details.get("run")
    return Statistics(
        crawled=_count(details.get("crawled")), total=_count(details.get("total")),
        failed=_count(details.get("failed")), pending=_count(details.get("pending")),
        waiting=details.get("waiting") is True, run=_count(run) or None, raw=details,
    )  # fmt: skip


def end_of(line: str) -> ToolEnd | None:
    """The tool's last word, where the line is that."""
    said = _parsed(line, END_MESSAGE)
    if said is None or said.get("context") != TOOL_CONTEXT or not isinstance(said.get("details"), dict):
        return None
    details = said["details"]
    stage, zim = details.get("stage"), details.get("zim")
    return ToolEnd(
        stage=stage if isinstance(stage, str) else "",
        zim=zim if isinstance(zim, str) else None,
    )


def statistics_line(details: dict[str, Any], *, at: str) -> str:
    """The line that says how far a crawl is."""
    return _line(CONTEXT, MESSAGE, details, at)


def end_line(details: dict[str, Any], *, at: str) -> str:
    """The line that says what an archive came to."""
    return _line(TOOL_CONTEXT, END_MESSAGE, details, at)


def complaint_of(line: str) -> str | None:
    """`timeout` or `http`, where an engine complains of such a thing in this line."""
    if not line.startswith("{") or len(line) > MAX_LINE_CHARS:
        return None
    said = _json(line)
    if said is None or str(said.get("logLevel", "")).lower() not in _COMPLAINTS:
        return None
    message = str(said.get("message", "")).lower()
    if any(word in message for word in _TIMEOUT_WORDS):
        return "timeout"
    return "http" if any(word in message for word in _HTTP_WORDS) else None


def _line(context: str, message: str, details: dict[str, Any], at: str) -> str:
    said = {"timestamp": at, "logLevel": "info", "context": context, "message": message, "details": details}
    return json.dumps(said, ensure_ascii=True)


def _parsed(line: str, message: str) -> dict[str, Any] | None:
    if message not in line or len(line) > MAX_LINE_CHARS:
        return None
    said = _json(line)
    return said if said is not None and said.get("message") == message else None


def _json(line: str) -> dict[str, Any] | None:
    text = line.strip()
    if not text.startswith("{") or not text.endswith("}"):
        return None
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), MAX_COUNT)
