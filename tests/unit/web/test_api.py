"""The public API: shapes, limits, and that odd questions are never errors."""

from __future__ import annotations

import csv
import gzip
import io
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import select

from crawler.archive import search as archive_search
from crawler.db.models import Artifact, ExportRecord, Page, Snapshot
from crawler.views import search as views_of_search
from crawler.views.archive_exports import Exported, ExportForm, ExportOrder
from crawler.web.api import exports
from tests.unit.archive.stored import index_pages, keep
from tests.unit.views.rows import a_job

if TYPE_CHECKING:
    from crawler.archive.search import SearchOrder
    from tests.unit.web.conftest import Serve, Served

HTML = "<html lang=en><title>A red chair</title><main><h1>A red chair</h1><p>Made of beech. {}</p></main>"


@pytest.fixture
def filled(served_on_both: Served) -> Served:
    """Three pages that can be found."""
    for number in range(3):
        keep(
            served_on_both.database, served_on_both.blobs, HTML.format(f"Number {number}. " * 20),
            f"https://shop.example/p/{number}",
        )  # fmt: skip
    index_pages(served_on_both.database, served_on_both.blobs)
    return served_on_both


def test_an_empty_archive_has_zeros(served_on_both: Served) -> None:
    """Nothing is an answer, not an error (SPEC 71-73)."""
    assert served_on_both.get("/api/stats").json() == {
        "snapshotsTotal": 0, "pagesTotal": 0, "sourcesTotal": 0, "latestCaptureDate": None,
        "latestCaptureAgeDays": None,
    }  # fmt: skip
    assert served_on_both.get("/api/sources").json() == []
    health = served_on_both.get("/api/health").json()
    assert health["status"] == "ok"
    assert health["checks"]["db"] == "ok"
    assert health["checks"]["snapshots"] == {"total": 0}
    assert served_on_both.get("/api/search?q=anything").json() == {
        "results": [], "total": 0, "page": 1, "pageSize": 20,
    }  # fmt: skip


def test_what_is_captured_is_counted_and_found(filled: Served) -> None:
    """Stats, sources, search, snapshot and raw agree with each other."""
    assert filled.get("/api/stats").json()["snapshotsTotal"] == 3
    [source] = filled.get("/api/sources").json()
    assert (source["sourceCode"], source["recordCount"]) == ("shop.example", 3)
    found = filled.get("/api/search", params={"q": "beech", "pageSize": 2}).json()
    assert (found["total"], len(found["results"])) == (3, 2)
    hit = found["results"][0]
    shown = filled.get(f"/api/snapshot/{hit['id']}").json()
    of_searches = {"pageSnapshotsCount", "titleHtml", "snippetHtml"}
    assert {name: shown[name] for name in hit.keys() - of_searches}.items() <= hit.items()
    raw = filled.get(hit["rawSnapshotUrl"])
    assert raw.headers["content-type"] == "text/html; charset=utf-8"
    assert "Made of beech" in raw.text
    assert raw.headers["content-security-policy"].startswith("sandbox;")


def test_what_is_not_there_is_404(served: Served) -> None:
    """In the one shape of errors."""
    for path in ("/api/snapshot/99", "/api/snapshots/raw/99", "/api/nothing"):
        response = served.get(path)
        assert response.status_code == 404
        assert {"error", "code", "detail"} <= response.json().keys()
    assert served.get("/api/snapshot/99").json()["detail"] == "Snapshot not found"


def test_what_cannot_be_understood_is_422(served: Served) -> None:
    """Bounds are checked before a database sees a value."""
    for query in (
        "page=0", "pageSize=0", "pageSize=101", "page=9007199254740993", "from=0000-01-01", "from=2026-13-01",
        "to=1700000000", "from=2026-02-01&to=2026-01-01", "sort=odd", "view=odd", "q=", f"q={'a' * 257}",
        "page=x", "includeNon2xx=maybe", "includeDuplicates=maybe",
    ):  # fmt: skip
        assert (query, served.get(f"/api/search?{query}").status_code) == (query, 422)
    for number in ("9223372036854775808", "-1", "x"):
        assert served.get(f"/api/snapshot/{number}").status_code == 422


def test_a_source_has_editions(filled: Served) -> None:
    """One for each job with captures; its entry is the first one that was answered well (SPEC 95)."""
    at = "/api/sources/SHOP.example/editions"
    assert filled.get(at).json() == []  # visits are no edition
    with filled.database.write() as db:
        first, second, empty = (a_job(name=name) for name in ("first", "second", "empty"))
        db.add_all([first, second, empty])
        db.flush()
        one, two, three = db.scalars(select(Snapshot).order_by(Snapshot.id))
        one.job_id = two.job_id = first.id
        one.status_class, three.job_id = -1, second.id
        for number, each in enumerate((one, two, three)):
            each.captured_at = datetime(2026, 3, 1 + number, tzinfo=UTC)
        ids, pages = (first.id, second.id), (two.url, three.url)
    later, earlier = filled.get(at).json()
    assert later["entryBrowseUrl"].endswith(f"/{pages[1]}")
    assert earlier["entryBrowseUrl"].endswith(f"/{pages[0]}")
    names = ("jobId", "jobName", "recordCount", "firstCapture", "lastCapture")
    assert [tuple(each[name] for name in names) for each in (later, earlier)] == [
        (ids[1], "second", 1, "2026-03-03", "2026-03-03"), (ids[0], "first", 2, "2026-03-01", "2026-03-02"),
    ]  # fmt: skip
    for unknown in ("other", "test", "%25", "x" * 90):
        assert filled.get(f"/api/sources/{unknown}/editions").status_code == 404


def test_a_source_has_a_preview(filled: Served) -> None:
    """The newest picture that may still be read, and none of another source (SPEC 95)."""
    at = "/api/sources/SHOP.example/preview"
    assert (filled.get(at).status_code, filled.get(at).json()["error"]) == (404, "No preview")
    with filled.database.write() as db:
        [page, *_] = db.scalars(select(Page))
        for number, gone in enumerate((None, None, db.now)):
            filled.blobs.publish(f"{number}.png", b"picture %d" % number)
            db.add(
                Artifact(
                    id=uuid4(), session_id=page.session_id, page_id=page.id, type="screenshot",
                    storage_uri=f"{number}.png", size_bytes=9, checksum=str(number), content_sha256="",
                    content_type="image/png", created_at=db.now + timedelta(days=number), deleted_at=gone,
                )
            )  # fmt: skip
    answer = filled.get(at)
    assert (answer.content, answer.headers["content-type"]) == (b"picture 1", "image/png")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert filled.get("/api/sources/other/preview").status_code == 404


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


def test_any_text_is_a_question(filled: Served) -> None:
    """Whatever it is made of."""
    for q in ("(((((", 'a" OR', "NOT NOT", "title:", "%", "\\", "'; DROP TABLE snapshots", "*"):
        assert (q, filled.get("/api/search", params={"q": q}).status_code) == (q, 200)


def test_a_page_past_the_end_is_empty(filled: Served) -> None:
    """And the total stays (SPEC 80)."""
    found = filled.get("/api/search?page=1000000000000").json()
    assert (found["results"], found["total"]) == ([], 3)


def test_the_api_describes_itself(served: Served) -> None:
    """Under its own address, with every public route."""
    described = served.get("/api/openapi.json").json()
    assert {"/api/health", "/api/stats", "/api/sources", "/api/search"} <= described["paths"].keys()


def test_a_database_that_is_gone_is_told(served: Served) -> None:
    """The health check fails with the body that is promised (SPEC 71)."""
    served.database.close()
    assert served.database.path
    served.database.path.unlink()
    served.database.path.mkdir()
    response = served.get("/api/health")
    assert response.status_code == 500
    assert response.json() == {"status": "error", "checks": {"db": "error"}}


@pytest.mark.parametrize("fast", [True, False])
def test_the_search_knows_the_setting_of_the_fast_way(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, *, fast: bool
) -> None:
    """`PAGES_FASTPATH` holds for programs and pages as for the command."""
    asked: list[bool] = []
    found = archive_search.search

    def search(db: Any, order: SearchOrder, **more: Any) -> Any:
        asked.append(order.fast_pages)
        return found(db, order, **more)

    monkeypatch.setattr(views_of_search, "search", search)
    served = serve(pages_fastpath=fast)
    assert served.get("/api/search?view=pages").status_code == 200
    assert served.get("/search?view=pages").status_code == 200
    assert asked == [fast, fast]
