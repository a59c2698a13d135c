"""`vitrine pages`: what was fetched, page by page, whichever session it was for."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.cli.lists import list_command
from crawler.cli.options import Caused, SessionOption, add_group
from crawler.cli.output import Listing, short_id
from crawler.cli.stores import reading
from crawler.views import stored as views
from crawler.views.paging import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.views.paging import Wanted
    from crawler.views.stored import ListedPage


class PageStatus(StrEnum):
    """How a page stands."""

    OK = "ok"
    FAILED = "failed"
    PENDING = "pending"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_group(app, "pages", "The pages that sessions and runs have fetched.", list=list_pages)


def _row(page: ListedPage) -> dict[str, Any]:
    return {
        "page": str(page.id)[:8],
        "fetched": page.created_at,
        "type": page.page_type,
        "status": page.status,
        "http": page.http_status,
        "url": page.url,
        "session": str(page.session_id)[:8],
        "doubts": ", ".join(page.low_confidence_reasons),
    }


PAGES = Listing(
    "pages",
    _row,
    empty="no pages match; `vitrine crawl pdp URL` fetches some",
    then="vitrine sessions show SESSION",
    key=short_id,
)


@list_command(PAGES, cause=Caused)
def list_pages(
    wanted: Wanted,
    *,
    session: SessionOption = None,
    status: Annotated[PageStatus | None, typer.Option(help="Only those that stand so.")] = None,
    page_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Only these: homepage, pdp, page, media.")
    ] = None,
) -> Sequence[ListedPage]:
    """List pages, the newest first; with --cause those of sessions that it ended.

    Examples: vitrine pages list --domain shop.example --status failed --since 2026-05-01
    """
    with reading() as db:
        return listed(db, views.PAGES, wanted, session=session, status=status, page_type=page_type or None)
