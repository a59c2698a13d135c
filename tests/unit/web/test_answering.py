"""A page in its forms."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from attrs import frozen
from fastapi import APIRouter, Request

from crawler.web.answering import Rows, _forms, page, rows_of, shown

if TYPE_CHECKING:
    from fastapi import Response


@frozen
class Item:
    """A row of a list."""

    name: str
    count: int | None = None


HOSTILE = '=cmd()", "<script>\n'


def answered(path: str, document: object, rows: Rows | None = None) -> Response:
    """What a page answers under an address."""
    request = Request({"type": "http", "path": path, "query_string": b"", "headers": []})
    return shown(request, "never.html", document, rows)


def test_a_route_for_each_form() -> None:
    """The forms come first, else `{name}` would take them for its own."""
    router = APIRouter()

    @page(router, "/things/{name}", "json", "csv")
    def things() -> None:
        """All of them."""

    assert [(route.path, route.name) for route in router.routes] == [  # type: ignore[attr-defined]
        ("/things/{name}.json", "things.json"), ("/things/{name}.csv", "things.csv"),
        ("/things/{name}", "things"),
    ]  # fmt: skip


def test_a_list_as_a_table() -> None:
    """The names of its columns and a row each; no spreadsheet takes a text for a formula."""
    items = [Item(HOSTILE, 3), Item("b")]
    answer = answered("/things.csv", items, rows_of(items, ("name", "count")))
    assert answer.headers["content-disposition"] == 'attachment; filename="things.csv"'
    head, first, second = csv.reader(io.StringIO(bytes(answer.body).decode()))
    assert head == ["name", "count"]
    assert first[0].lstrip("'") == HOSTILE
    assert not first[0].startswith("=")
    assert second[0] == "b"


def test_the_same_document_as_json() -> None:
    """Whole, whatever columns the table has, and without a password."""
    answer = answered("/things.json", [Item("https://me:canary-pw@shop.example/", 3)], Rows(("name",), []))
    [found] = json.loads(bytes(answer.body))
    assert found["count"] == 3
    assert "canary-pw" not in found["name"]


@pytest.mark.parametrize(("path", "address"), [("/things", "/things"), ("/", "/index"), ("/a/", "/a")])
def test_other_forms_are_offered_with_the_same_question(path: str, address: str) -> None:
    """A table only of what is a list."""
    request = Request({"type": "http", "path": path, "query_string": b"q=%22&x", "headers": []})
    offered = [("JSON", f"{address}.json?q=%22&x"), ("CSV", f"{address}.csv?q=%22&x")]
    assert _forms(request, Rows(("name",), [])) == offered
    assert _forms(request, None) == offered[:1]
