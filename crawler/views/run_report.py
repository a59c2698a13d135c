"""A run's report as it is written: as JSON, and as a page for people."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from attrs import asdict

from crawler.urls import redacted
from crawler.views import runs
from crawler.views.documents import as_json
from crawler.views.runs import MOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.views.runs import RunReport

MAX_CELL_CHARS = 200


def read_report(database: Database, run_id: int) -> RunReport:
    """The report of a run as it stands."""
    with database.read() as db:
        return runs.shown(db, db.now, str(run_id))


def write_report(report: RunReport, folder: Path) -> None:
    """Write a run's report beside the other data, as JSON and as Markdown; a later end overwrites it."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, content in (("json", as_json(report, indent=2) + "\n"), ("md", as_markdown(report))):
        whole = folder / f"run-{report.id}.{suffix}"
        part = whole.with_name(f".{whole.name}.{os.getpid()}.part")
        part.write_text(content, encoding="utf-8")
        part.replace(whole)


def as_markdown(report: RunReport) -> str:
    """The report as a page; what sites wrote stands in it as text, never as markup."""
    parts = [
        f"# Run {report.id} of {_text(report.source)}: {report.status}",
        _span(report),
        _section("Tasks", ("status", "tasks"), report.tasks.items()),
        _section("What came of them", ("outcome", "tasks"), report.outcomes.items()),
        _section("Pages", ("", ""), asdict(report.pages).items()),
        _section(
            "Domains",
            ("domain", "tasks", "finished", "failed"),
            ([row.domain, row.tasks, row.finished, row.error] for row in report.domains),
        ),
        _section(
            "Assets",
            ("plugin", "new", "updated", "unchanged", "missing"),
            (
                [plugin, *(counts.get(status, 0) for status in ("new", "updated", "unchanged", "missing"))]
                for plugin, counts in report.assets.items()
            ),
        ),
        _section(
            f"Failures (the newest {MOST})",
            ("URL", "tries", "cause", "why"),
            ([row.url, row.attempts, row.cause, row.last_error] for row in report.failures),
        ),
        _section(
            f"Worth a look: {report.exceptions_open} open",
            ("stage", "URL", "what"),
            ([row.stage, row.url, row.message] for row in report.exceptions),
        ),
    ]
    if report.permanent_lines:
        lines = "\n".join(f"    {line}" for line in report.permanent_lines)
        parts.append(f"## Logins that it met\n\nTo leave them out for good, in sources.toml:\n\n{lines}")
    return redacted("\n\n".join(part for part in parts if part)) + "\n"


def _section(title: str, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    lines = [" | ".join(_text(str(cell)) for cell in row) for row in rows]
    if not lines:
        return ""
    head = [" | ".join(columns), " | ".join("---" for _ in columns)]
    return f"## {title}\n\n" + "\n".join(f"| {line} |" for line in [*head, *lines])


def _text(value: str) -> str:
    """Text as a table's cell that no Markdown reader takes for anything else."""
    plain = " ".join(value.replace("`", "'").split())[:MAX_CELL_CHARS]
    plain = plain.replace("\\", "\\\\").replace("|", "\\|")
    return f"`{plain}`" if any(mark in plain for mark in "<>[]*_#&:/") else plain


def _span(report: RunReport) -> str:
    begun, ended = _time(report.started_at), _time(report.completed_at)
    return f"Started {begun}, ended {ended} ({report.seconds or 0} s)."


def _time(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%SZ") if moment else "-"
