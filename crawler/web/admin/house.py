"""The workshop's first page, sources, WARC files, the audit log, and the settings."""

from __future__ import annotations

from typing import Annotated

from attrs import frozen
from fastapi import APIRouter, Query, Request, Response

from crawler.config import setting_docs
from crawler.config import shown as shown_settings
from crawler.runs.sources import known_sources
from crawler.views import sources as source_views
from crawler.views import warcs as warc_views
from crawler.views.audit import AUDIT
from crawler.views.operations import operations
from crawler.views.paging import Wanted, listed
from crawler.web.answering import page, rows_of, shown
from crawler.web.parameters import MAX_NUMBER
from crawler.web.site import Reading, SiteHere

router = APIRouter(prefix="/admin", include_in_schema=False)
MOST = 200
Field = Annotated[str, Query(max_length=100)]
STATES = ("open", "sealed", "damaged", "gone")
AUDIT_COLUMNS = ("id", "timestamp", "actor", "action", "subject", "details")
WARC_COLUMNS = (
    "id",
    "path",
    "state",
    "job",
    "session",
    "records",
    "records_bad",
    "size_bytes",
    "first_at",
    "last_at",
)
SOURCE_COLUMNS = ("code", "name", "base_url", "engine", "enabled", "is_registered")
SETTING_COLUMNS = ("name", "value", "default")


@frozen(kw_only=True)
class SettingItem:
    """A setting, and its value here; of a secret only whether it is set."""

    name: str
    value: str
    default: str
    about: str
    is_default: bool


@page(router, "")
def home(request: Request, db: Reading) -> Response:
    """What is under way, and what needs a person."""
    return shown(request, "admin.html", operations(db))


@page(router, "/sources", "json", "csv")
def sources(request: Request, site: SiteHere, db: Reading) -> Response:
    """Those of the file, and whether jobs may name them."""
    found = source_views.items(db, known_sources(site.settings.sources_file))
    return shown(request, "sources.html", found, rows_of(found, SOURCE_COLUMNS))


@page(router, "/warcs", "json", "csv")
def warcs(request: Request, db: Reading, state: Field = "") -> Response:
    """The newest WARC files."""
    known = state if state in STATES else ""
    found = warc_views.known(db, Wanted(limit=MOST), state=known)
    return shown(
        request, "warcs.html", found, rows_of(found, WARC_COLUMNS), state=known, states=STATES, most=MOST
    )


@page(router, "/audit", "json", "csv")
def audit(
    request: Request, db: Reading, before: Annotated[int, Query(ge=1, le=MAX_NUMBER)] = MAX_NUMBER
) -> Response:
    """Who did what, the newest first."""
    found = listed(db, AUDIT, Wanted(limit=MOST), before=before)
    older = found[-1].id if len(found) == MOST else None
    return shown(request, "audit.html", found, rows_of(found, AUDIT_COLUMNS), older=older)


@page(router, "/system", "json", "csv")
def settings(request: Request, site: SiteHere) -> Response:
    """Every setting as it is here."""
    values = shown_settings(site.settings)
    found = [
        SettingItem(
            name=doc.name, value=values[doc.name], default=doc.default, about=doc.about,
            is_default=values[doc.name] == doc.default,
        )
        for doc in setting_docs()
    ]  # fmt: skip
    return shown(request, "settings.html", found, rows_of(found, SETTING_COLUMNS))
