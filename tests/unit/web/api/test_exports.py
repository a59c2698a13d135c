"""Lists of snapshots and changes: page by page, on record, and only where they are on."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.db.models import ExportRecord
from crawler.views.archive_exports import Exported, ExportForm, ExportOrder
from crawler.web.api import exports

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


def test_lists_are_given_out_page_by_page(filled: Served) -> None:
    """By ids, in either form, packed or not; each row once (SPEC 96)."""
    assert {each["name"] for each in filled.get("/api/exports").json()["exports"]} == {"snapshots", "changes"}
    first = filled.get("/api/exports/snapshots?limit=2")
    assert first.headers["content-type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in first.text.splitlines()]
    rest = filled.get(f"/api/exports/snapshots?limit=2&afterId={rows[-1]['id']}").text.splitlines()
    assert [row["id"] for row in (*rows, *map(json.loads, rest))] == [1, 2, 3]
    packed = filled.get("/api/exports/snapshots?format=csv&compressed=true")
    assert packed.headers["content-type"] == "application/gzip"
    listed = list(csv.DictReader(io.StringIO(gzip.decompress(packed.content).decode())))
    assert [row["sourceCode"] for row in listed] == ["shop.example"] * 3
    for query, number in (
        ("source=SHOP.example", 3),
        ("source=other", 0),
        ("from=2999-01-01", 0),
        ("to=2999-01-01", 3),
    ):
        assert len(filled.get(f"/api/exports/snapshots?{query}").text.splitlines()) == number
    assert filled.get("/api/exports/changes?format=csv").text.startswith("id,sourceCode")
    for wrong in (
        "snapshots?limit=10001",
        "snapshots?limit=0",
        "snapshots?format=xml",
        "prices",
        "snapshots?afterId=-1",
    ):
        assert filled.get(f"/api/exports/{wrong}").status_code == 422
    assert filled.client.head("/api/exports/snapshots").status_code == 200


def test_lists_stand_on_record(filled: Served) -> None:
    """As those of `vitrine export` do, with the rows that left; as failed, where one broke off."""
    for query in ("snapshots?limit=2", "snapshots?format=csv&compressed=true", "changes?format=csv"):
        filled.get(f"/api/exports/{query}")
    order = ExportOrder(what=Exported.SNAPSHOTS, form=ExportForm.JSONL)
    broken = exports.on_record(filled.database, order)
    next(broken)
    del broken
    with filled.database.read() as db:
        rows = db.scalars(select(ExportRecord).order_by(ExportRecord.id)).all()
        assert [(row.what, row.format, row.row_count, row.status) for row in rows] == [
            ("snapshots", "jsonl", 2, "complete"), ("snapshots", "csv", 3, "complete"),
            ("changes", "csv", 0, "complete"), ("snapshots", "jsonl", 0, "failed"),
        ]  # fmt: skip
        assert {row.actor for row in rows} == {"web"}


def test_lists_can_be_switched_off(serve: Serve) -> None:
    """Then nothing is given out."""
    response = serve(exports_enabled=False).get("/api/exports/snapshots")
    assert (response.status_code, response.json()["code"]) == (403, "exports_disabled")
