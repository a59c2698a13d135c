"""One snapshot for programs: it agrees with the search, and what is not there is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


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
