"""Templates and static files, read from the package as it lies, in a folder or zipped."""

from __future__ import annotations

import hashlib
import shlex
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from crawler import __version__
from crawler.archive.asked import shown_time
from crawler.urls import redacted
from crawler.web import charts, wording

STATIC_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
FILTERS = ("coded", "when", "size", "number", "lasting", "look_of", "said", "replay_url", "calendar_url")
_DIGEST_CHARS = 16


def render(request: Request, template: str, *, status_code: int = 200, **values: Any) -> HTMLResponse:
    """A page from its template; what it shows is escaped, and no secret of a URL is in it."""
    return HTMLResponse(redacted(_page(request, template, values)), status_code)


def render_with_urls(
    request: Request, template: str, *, status_code: int = 200, **values: Any
) -> HTMLResponse:
    """A page about the URL that it is asked for; its links would lead nowhere with a part of it left out."""
    return HTMLResponse(_page(request, template, values), status_code)


def _page(request: Request, template: str, values: dict[str, Any]) -> str:
    return environment().get_template(template).render(request=request, **values)


@cache
def environment() -> Environment:
    """Templates, and what all of them know."""
    made = Environment(
        loader=PackageLoader("crawler.web"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.globals.update(static=static_url, version=__version__, bars=charts.bars, steps=charts.steps)
    made.filters.update({name: getattr(wording, name) for name in FILTERS})
    made.filters["shown_time"] = shown_time
    made.filters["quoted"] = shlex.quote  # of commands that are there to be copied
    return made


@cache
def static_file(name: str) -> bytes | None:
    """A static file's bytes; None where there is no such file."""
    found = {each.name: each for each in files("crawler.web").joinpath("static").iterdir()}.get(name)
    return found.read_bytes() if found is not None and found.is_file() else None


@cache
def digest_of(name: str) -> str:
    """What changes when a static file does."""
    return hashlib.sha256(static_file(name) or b"").hexdigest()[:_DIGEST_CHARS]


def static_url(name: str) -> str:
    """Where a static file is had for as long as it stays the same."""
    return f"/static/{name}?v={digest_of(name)}"
