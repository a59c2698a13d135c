"""The house itself: does it work, which version is it, which keys does it know, what are its parts."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import version

from attrs import frozen
from fastapi import APIRouter, Request, Response

from crawler import __version__
from crawler.db.revisions import HEAD
from crawler.errors import CrawlerError
from crawler.views.attention import Attention
from crawler.web.answering import page, shown
from crawler.web.site import Site, SiteHere

router = APIRouter()
LIBRARIES = ("scrapy", "sqlalchemy", "fastapi", "uvicorn")


@frozen(kw_only=True)
class SystemDocument:
    """What runs here, and whether it works."""

    version: str
    python: str
    database: str
    database_revision: str
    database_answers: bool
    replay_origin: str
    read_only: bool
    libraries: dict[str, str]


@page(router, "/-/")
def system(request: Request, site: SiteHere) -> Response:
    """What runs here."""
    return shown(request, "system.html", _document(site))


@page(router, "/-/system", "json")
def system_document(request: Request, site: SiteHere) -> Response:
    """The same, under an address that has forms."""
    return system(request, site)


@page(router, "/-/keyboard")
def keyboard(request: Request) -> Response:
    """The keys that pages know."""
    return shown(request, "keyboard.html", None)


@page(router, "/-/patterns")
def patterns(request: Request) -> Response:
    """Every component once, for whoever changes one."""
    example = Attention(
        code="example",
        severity="bad",
        count=1,
        what="Something needs a person",
        why="This is why.",
        link="/-/patterns",
    )
    return shown(request, "patterns.html", None, examples=[example])


def _document(site: Site) -> SystemDocument:
    is_sqlite = site.database.is_sqlite
    try:
        with site.database.read() as db:
            _ = db.now
    except CrawlerError:
        answers = False
    else:
        answers = True
    return SystemDocument(
        version=__version__, python=platform.python_version(),
        database=f"SQLite {sqlite3.sqlite_version}" if is_sqlite else "PostgreSQL", database_revision=HEAD,
        database_answers=answers, replay_origin=site.settings.replay_base_url,
        read_only=site.settings.web_read_only, libraries={name: version(name) for name in LIBRARIES},
    )  # fmt: skip
