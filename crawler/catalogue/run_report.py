"""What a run did: counted in the database, as a document for machines and as a page for people."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, select

from crawler.access.scope import permanent_lines
from crawler.capture.failures import Cause
from crawler.catalogue import assets
from crawler.db.models import Artifact, CrawlException, CrawlSession, Page, Run, Task
from crawler.errors import ExitCode
from crawler.runs import exceptions, tasks
from crawler.runs import rows as runs_rows
from crawler.runs.rows import RunStatus
from crawler.urls import redact, redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database

MOST = 20  # lines of each list
# Of pages that are not to be had, by the site's rules or the source's.
REFUSALS = {cause for cause in Cause if cause.traits.is_refusal}
MAX_CELL_CHARS = 200


def summary_of(db: Session, run: Run, now: datetime) -> dict[str, Any]:
    """How a run stands, in what indexes answer."""
    end = run.completed_at or now
    return {
        "id": run.id,
        "source": run.source,
        "status": run.status,
        "started_at": run.started_at,
        "completed_at": run.completed_at,
        "seconds": round((end - run.started_at).total_seconds(), 1) if run.started_at else None,
        "last_error": run.last_error,
        "tasks": tasks.counts(db, run.id),
        "assets": assets.counts(db, run.id),
        "exceptions_open": exceptions.open_count(db, run.id),
        "workers": runs_rows.living_workers(db, run.id, now),
    }


def report_of(db: Session, run: Run, now: datetime) -> dict[str, Any]:
    """Everything that is worth telling of a run, in one document; of a large one it takes its time."""
    learnt = runs_rows.learnt_of(db, run.id)
    waiting = [{"domain": domain, "tasks": count} for domain, count in tasks.waiting(db, run.id, MOST)]
    return {
        **summary_of(db, run, now),
        "waiting": waiting,
        "outcomes": _outcomes(db, run.id),
        "pages": _pages(db, run.id),
        "domains": _domains(db, run.id),
        "exceptions": _exceptions(db, run.id),
        "failures": _failures(db, run.id),
        "learnt": [
            {"domain": denial.domain, "pattern": denial.pattern, "reason": denial.reason} for denial in learnt
        ],
        "permanent_lines": list(permanent_lines(learnt)),
        "plan": run.plan,
    }


def exit_code_of(report: Mapping[str, Any]) -> ExitCode:
    """0 when every page was had that may be had, 3 when some were, 1 when none was or it could not go on."""
    if report["status"] == RunStatus.FAILED or not report["tasks"]["finished"]:
        return ExitCode.FAILED
    refused = sum(count for why, count in report["outcomes"].items() if why in REFUSALS)
    is_well = report["status"] == RunStatus.COMPLETED and report["tasks"]["error"] == refused
    return ExitCode.DONE if is_well else ExitCode.PARTLY


def read_report(database: Database, run_id: int) -> dict[str, Any]:
    """The report of a run as it stands."""
    with database.read() as db:
        return report_of(db, runs_rows.find(db, str(run_id)), db.now)


def write_report(report: dict[str, Any], folder: Path) -> None:
    """Write a run's report beside the other data, as JSON and as Markdown; a later end overwrites it."""
    run_id = report["id"]
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, content in (("json", as_json(report)), ("md", as_markdown(report))):
        whole = folder / f"run-{run_id}.{suffix}"
        part = whole.with_name(f".{whole.name}.{os.getpid()}.part")
        part.write_text(content, encoding="utf-8")
        part.replace(whole)


def as_json(report: dict[str, Any]) -> str:
    """The report for machines."""
    return redacted(json.dumps(report, default=_plain, indent=2, ensure_ascii=False)) + "\n"


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def as_markdown(report: dict[str, Any]) -> str:
    """The report as a page; what sites wrote stands in it as text, never as markup."""
    parts = [
        f"# Run {report['id']} of {_text(report['source'])}: {report['status']}",
        _span(report),
        _section("Tasks", ("status", "tasks"), report["tasks"].items()),
        _section("What came of them", ("outcome", "tasks"), report["outcomes"].items()),
        _section("Pages", ("", ""), report["pages"].items()),
        _section(
            "Domains",
            ("domain", "tasks", "finished", "failed"),
            ([row["domain"], row["tasks"], row["finished"], row["error"]] for row in report["domains"]),
        ),
        _section(
            "Assets",
            ("plugin", "new", "updated", "unchanged", "missing"),
            (
                [plugin, *(counts.get(status, 0) for status in ("new", "updated", "unchanged", "missing"))]
                for plugin, counts in report["assets"].items()
            ),
        ),
        _section(
            f"Failures (the newest {MOST})",
            ("URL", "tries", "cause", "why"),
            ([row["url"], row["attempts"], row["cause"], row["last_error"]] for row in report["failures"]),
        ),
        _section(
            f"Worth a look: {report['exceptions_open']} open",
            ("stage", "URL", "what"),
            ([row["stage"], row["url"], row["message"]] for row in report["exceptions"]),
        ),
    ]
    if report["permanent_lines"]:
        lines = "\n".join(f"    {line}" for line in report["permanent_lines"])
        parts.append(f"## Logins that it met\n\nTo leave them out for good, in sources.toml:\n\n{lines}")
    return redacted("\n\n".join(part for part in parts if part)) + "\n"


def _outcomes(db: Session, run_id: int) -> dict[str, int]:
    """Ended tasks by what became of them; failures by their cause."""
    name = func.coalesce(Task.cause, Task.outcome, Task.status)
    ended = select(name, func.count()).where(Task.run_id == run_id, Task.status.in_(["finished", "error"]))
    return dict(db.execute(ended.group_by(name).order_by(func.count().desc(), name)).all())


def _pages(db: Session, run_id: int) -> dict[str, int]:
    sessions = select(CrawlSession.id).where(CrawlSession.run_id == run_id)
    rows = db.execute(
        select(Page.status, func.count()).where(Page.session_id.in_(sessions)).group_by(Page.status)
    )
    by_status = dict(rows.all())
    size = db.scalar(
        select(func.sum(Artifact.size_bytes)).where(
            Artifact.session_id.in_(sessions), Artifact.deleted_at.is_(None)
        )
    )
    visits = db.scalar(select(func.count()).where(CrawlSession.run_id == run_id))
    return {
        "stored": by_status.get("ok", 0),
        "failed": by_status.get("failed", 0),
        "bytes": int(size or 0),
        "visits": visits or 0,
    }


def _domains(db: Session, run_id: int) -> list[dict[str, Any]]:
    rows = db.execute(
        select(
            Task.domain, func.count(),
            func.sum(case((Task.status == "finished", 1), else_=0)),
            func.sum(case((Task.status == "error", 1), else_=0)),
        )
        .where(Task.run_id == run_id).group_by(Task.domain).order_by(func.count().desc()).limit(MOST)
    )  # fmt: skip
    names = ("domain", "tasks", "finished", "error")
    return [dict(zip(names, row, strict=True)) for row in rows]


def _failures(db: Session, run_id: int) -> list[dict[str, Any]]:
    rows = db.execute(
        select(Task.url, Task.attempts, Task.cause, Task.last_error)
        .where(Task.run_id == run_id, Task.status == "error")
        .order_by(Task.id.desc())
        .limit(MOST)
    )
    return [{**row, "url": redact(row["url"])} for row in rows.mappings()]


def _exceptions(db: Session, run_id: int) -> list[dict[str, Any]]:
    rows = db.scalars(
        select(CrawlException)
        .where(CrawlException.run_id == run_id, CrawlException.resolved_at.is_(None))
        .order_by(CrawlException.id.desc())
        .limit(MOST)
    )
    return [{"id": row.id, "stage": row.stage, "url": row.url, "message": row.message} for row in rows]


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


def _span(report: dict[str, Any]) -> str:
    begun, ended = _time(report["started_at"]), _time(report["completed_at"])
    return f"Started {begun}, ended {ended} ({report['seconds'] or 0} s)."


def _time(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%SZ") if moment else "-"
