"""A page in its forms: HTML for people, the same document as JSON, a list as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from attrs import frozen
from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from crawler.clock import utc_now
from crawler.views.documents import as_json
from crawler.views.exports import csv_line
from crawler.web.access import form_login, keys_of
from crawler.web.rendering import render
from crawler.web.site import site_of

Route = TypeVar("Route", bound=Callable[..., Any])
FORMS = ("json", "csv")
SEE_OTHER = 303


@frozen
class Rows:
    """A list as a table: the names of its columns, and its rows."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Any]]


def rows_of(items: Iterable[Any], columns: Sequence[str]) -> Rows:
    """Documents as rows: their fields of these names."""
    return Rows(columns, [tuple(getattr(each, name) for name in columns) for each in items])


def see(address: str) -> Response:
    """After a form: a browser asks for that page, and whoever reloads it sends the form no second time."""
    return RedirectResponse(address, SEE_OTHER)


def page(router: APIRouter, path: str, *forms: str) -> Callable[[Route], Route]:
    """A route for the page, and one for each further form of it."""

    def add(function: Route) -> Route:
        for each in (*forms, ""):
            ending = f".{each}" if each else ""
            name = f"{function.__name__}{ending}"
            router.add_api_route(path + ending, function, methods=["GET"], include_in_schema=False, name=name)
        return function

    return add


def shown(
    request: Request, template: str, document: Any, rows: Rows | None = None, **values: Any
) -> Response:
    """The document in the form that the address asks for."""
    form = request.url.path.rpartition(".")[2]
    if form == "json":
        return Response(as_json(document, indent=2), media_type="application/json")
    if form == "csv" and rows is not None:
        return _as_csv(request, rows)
    return render(request, template, doc=document, forms=_forms(request, rows), **values, **_of_room(request))


def _as_csv(request: Request, rows: Rows) -> Response:
    name = request.url.path.rpartition("/")[2]
    text = csv_line(rows.columns) + "".join(map(csv_line, rows.rows))
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=disposition)


def _forms(request: Request, rows: Rows | None) -> list[tuple[str, str]]:
    """What else the page can be had as, with the same question."""
    path = request.url.path.rstrip("/") or "/index"
    query = f"?{request.url.query}" if request.url.query else ""
    return [(form.upper(), f"{path}.{form}{query}") for form in FORMS if form == "json" or rows is not None]


def _of_room(request: Request) -> dict[str, Any]:
    """What forms that change something need; empty for who may not."""
    site = site_of(request)
    keys = keys_of(site)
    login = "" if site.settings.web_read_only else form_login(request)
    token = keys.form_token(login) if login else ""
    return {"form_token": token, "read_only": site.settings.web_read_only, "now": utc_now()}
