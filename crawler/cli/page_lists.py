"""`vitrine pages`: what was fetched, page by page, whichever session it was for."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.options import (
    After,
    Caused,
    FailEmpty,
    InDomain,
    Json,
    JsonLines,
    Limit,
    SessionOption,
    Since,
    Until,
    add_group,
    wanted_of,
)
from crawler.cli.output import Listing, short_id, show_list
from crawler.cli.stores import reading
from crawler.views import stored as views

if TYPE_CHECKING:
    from crawler.views.stored import ListedPage


class PageStatus(StrEnum):
    """How a page stands."""

    OK = "ok"
    FAILED = "failed"
    PENDING = "pending"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_group(app, "pages", "The pages that sessions and runs have fetched.", list=list_pages)


def list_pages(
    *,
    session: SessionOption = None,
    status: Annotated[PageStatus | None, typer.Option(help="Only those that stand so.")] = None,
    page_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only these: homepage, pdp, page, media.")
    ] = None,
    cause: Caused = None,
    domain: InDomain = None,
    since: Since = None,
    until: Until = None,
    after: After = None,
    limit: Limit = 50,
    as_json: Json = False,
    as_jsonl: JsonLines = False,
    fail_empty: FailEmpty = False,
) -> int:
    """List pages, the newest first; with --cause those of sessions that it ended.

    Examples: vitrine pages list --domain shop.example --status failed --since 2026-05-01
    """
    wanted = wanted_of(domain=domain, since=since, until=until, cause=cause, after=after, limit=limit)
    with reading() as db:
        found = views.newest_pages(db, wanted, session=session, status=status, page_type=page_type)
    return show_list(PAGES, found, as_json=as_json, as_jsonl=as_jsonl, fail_empty=fail_empty, limit=limit)


def _row(page: ListedPage) -> tuple[Any, ...]:
    return (
        str(page.id)[:8], page.created_at, page.page_type, page.status, page.http_status, page.url,
        str(page.session_id)[:8], ", ".join(page.low_confidence_reasons),
    )  # fmt: skip


PAGES = Listing(
    "pages",
    ("page", "fetched", "type", "status", "http", "url", "session", "doubts"),
    _row,
    empty="no pages match; `vitrine crawl pdp URL` fetches some",
    then="vitrine sessions show SESSION",
    key=short_id,
)
