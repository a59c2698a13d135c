"""What came of sessions, for people and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawler.capture.failures import Summary
from crawler.cli.output import Markup, size, status_mark, table
from crawler.db.models import Artifact, CrawlSession, Page
from crawler.sessions.outcome import Status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from crawler.sessions.store import SessionStore

    Described = dict[str, Any]

ALL_WELL, NONE_WELL, USAGE, SOME_WELL, LOCKED = 0, 1, 2, 3, 5
RESULT_COLUMNS = ("domain", "status", "product", "price", "artifacts", "bytes", "HTML goes", "why not")
SESSION_FIELDS = (
    "id", "kind", "run_id", "url", "domain", "status", "mode", "retention_policy", "error_summary", "cause",
    "crawl_policy_version", "wanted_pdp_url", "final_url", "pdp_url", "low_confidence", "owner", "epoch",
    "heartbeat_at", "created_at", "started_at", "finished_at", "config_snapshot",
)  # fmt: skip
PAGE_FIELDS = (
    "id", "epoch", "page_type", "viewport", "status", "url", "http_status", "low_confidence_reasons",
    "load_timings", "verdict", "facts", "created_at",
)  # fmt: skip
ARTIFACT_FIELDS = (
    "id", "page_id", "type", "storage_uri", "size_bytes", "checksum", "content_sha256", "content_type",
    "charset", "created_at", "retention_until", "deleted_at",
)  # fmt: skip


def describe(book: SessionStore, session_ids: Sequence[UUID]) -> list[Described]:
    """Sessions with their pages and artifacts, in the order given."""
    with book.database.read() as db:
        rows = {
            row.id: row for row in db.scalars(select(CrawlSession).where(CrawlSession.id.in_(session_ids)))
        }
        pages = list(
            db.scalars(select(Page).where(Page.session_id.in_(session_ids)).order_by(Page.created_at))
        )
        artifacts = list(
            db.scalars(
                select(Artifact).where(Artifact.session_id.in_(session_ids)).order_by(Artifact.created_at)
            )
        )
    described = {
        key: {**_fields(row, SESSION_FIELDS), "attempts": row.epoch, "pages": [], "artifacts": []}
        for key, row in rows.items()
    }
    for page in pages:
        described[page.session_id]["pages"].append(_fields(page, PAGE_FIELDS))
    for artifact in artifacts:
        described[artifact.session_id]["artifacts"].append(_fields(artifact, ARTIFACT_FIELDS))
    return [described[session_id] for session_id in session_ids if session_id in described]


def show_results(sessions: Sequence[Described]) -> None:
    """The table at the end of a crawl."""
    table(RESULT_COLUMNS, [result_row(session) for session in sessions])


def exit_code(sessions: Sequence[Described]) -> int:
    """The truth about several sessions in one number."""
    if not sessions:
        return NONE_WELL
    if len(sessions) == 1:
        return _exit_code_of_one(sessions[0])
    well = sum(session["status"] == Status.COMPLETED for session in sessions)
    if well == len(sessions):
        return ALL_WELL
    any_partial = any(session["status"] == Status.PARTIAL for session in sessions)
    return SOME_WELL if well or any_partial else NONE_WELL


def product_facts(session: Described) -> dict[str, Any]:
    """The facts of the session's product page; empty when it has none."""
    for page in reversed(session["pages"]):
        if page["page_type"] == "pdp" and page["facts"] and page["status"] == "ok":
            return dict(page["facts"])
    return {}


def _exit_code_of_one(session: Described) -> int:
    if session["error_summary"] == Summary.LOCK_TIMEOUT:
        return LOCKED
    codes = {Status.COMPLETED: ALL_WELL, Status.PARTIAL: SOME_WELL}
    return codes.get(session["status"], NONE_WELL)


def result_row(session: Described) -> list[Any]:
    """A session's line under RESULT_COLUMNS."""
    facts = product_facts(session) if session["pdp_url"] else {}
    price = " ".join(str(facts[name]) for name in ("price", "currency") if facts.get(name))
    why = f"{session['error_summary']} ({session['cause']})" if session["error_summary"] else ""
    goes = [artifact["retention_until"] for artifact in session["artifacts"] if artifact["retention_until"]]
    return [
        session["domain"] or session["url"],
        Markup(status_mark(session["status"])),
        facts.get("name"),
        price,
        len(session["artifacts"]),
        size(sum(artifact["size_bytes"] for artifact in session["artifacts"])),
        f"{min(goes):%Y-%m-%d}" if goes else "",
        why,
    ]


def _fields(row: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
