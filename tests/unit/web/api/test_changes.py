"""What changed, for programs and feed readers."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # ruff: ignore[suspicious-xml-etree-import] - to read our own

from tests.unit.archive.captured import SHOP

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


PEOPLE = {"Accept": "text/html"}


def parsed(shop: Served, path: str) -> ET.Element:
    """A feed, as its readers take it."""
    return ET.fromstring(shop.get(path).text)  # ruff: ignore[suspicious-xml-element-tree-usage] - see above


def test_the_feed(shop: Served) -> None:
    """Newest first, without what is unchanged unless it is asked for (SPEC 92, 158)."""
    found = shop.get("/api/changes").json()
    assert (found["enabled"], found["total"], found["page"], found["pageSize"]) == (True, 3, 1, 20)
    change = next(each for each in found["results"] if each["changeType"] == "updated")
    assert {name: change[name] for name in ("summary", "addedLines", "highNoise", "diffAvailable")} == {
        "summary": "1 section changed; 0 added; 0 removed", "addedLines": 1, "highNoise": False,
        "diffAvailable": True,
    }  # fmt: skip
    assert change["sourceCode"] == "shop.example"
    assert change["normalizedUrlGroup"] == SHOP
    assert shop.get("/api/changes?includeUnchanged=true").json()["total"] == 4
    assert shop.get("/api/changes?to=2026-05-01").json()["total"] == 1
    assert shop.get("/api/changes?page=99").json()["results"] == []
    unknown = shop.get("/api/changes?source=nowhere")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "Source not found")
    assert shop.get("/api/changes?from=2026-05-03&to=2026-05-01").status_code == 422


def test_a_comparison(shop: Served) -> None:
    """With the capture before, with any other of the page, and with none of another (SPEC 93)."""
    found = shop.get("/api/changes/compare?toSnapshotId=2").json()
    assert (found["fromSnapshot"]["id"], found["toSnapshot"]["id"], found["event"]["changeId"]) == (1, 2, 2)
    assert found["diffFormat"] == "html"
    assert "<del data-change" in found["diffHtml"]
    assert "<script>" not in found["diffHtml"]
    assert (found["diffVersion"], found["normalizationVersion"], found["diffTruncated"]) == (
        "v1",
        "v1",
        False,
    )
    answer = shop.get("/api/changes/compare?toSnapshotId=2")
    again = shop.get("/api/changes/compare?toSnapshotId=2", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", answer.headers["ETag"])
    assert shop.get("/api/changes/compare?toSnapshotId=3").headers["ETag"] != answer.headers["ETag"]
    far = shop.get("/api/changes/compare?toSnapshotId=3&fromSnapshotId=1").json()
    assert (far["event"], far["changeType"]) == (None, "updated")
    first = shop.get("/api/changes/compare?toSnapshotId=1").json()
    assert (first["fromSnapshot"], first["changeType"], first["diffHtml"]) == (None, "new_page", None)
    other = shop.get("/api/changes/compare?toSnapshotId=4&fromSnapshotId=1")
    assert (other.status_code, other.json()["detail"]) == (400, "Snapshot pair not available")
    missing = shop.get("/api/changes/compare?toSnapshotId=99")
    assert (missing.status_code, missing.json()["detail"]) == (404, "Change event not found")


def test_changes_that_are_switched_off(serve: Serve) -> None:
    """An empty feed that says so, and no comparison."""
    served = serve(change_tracking_enabled=False)
    assert served.get("/api/changes").json()["enabled"] is False
    assert served.get("/api/changes/compare?toSnapshotId=1").status_code == 404
    assert "Changes are not tracked here" in served.get("/changes", headers=PEOPLE).text


def test_the_captures_of_a_page(shop: Served) -> None:
    """The oldest first, each with the one that it is compared with; and the newest (SPEC 94, 95)."""
    found = shop.get("/api/snapshots/2/timeline").json()
    assert (found["sourceCode"], found["normalizedUrlGroup"]) == ("shop.example", SHOP)
    assert [each["compareFromSnapshotId"] for each in found["snapshots"]] == [None, 1, 2]
    assert found["snapshots"][0]["browseUrl"] == f"/web/20260501120000/{SHOP}"
    assert shop.get("/api/snapshots/1/latest").json()["id"] == 3
    for path in ("timeline", "latest"):
        answer = shop.get(f"/api/snapshots/99/{path}")
        assert (answer.status_code, answer.json()["detail"]) == (404, "Snapshot not found")


def test_the_capture_of_a_time(shop: Served) -> None:
    """Is found for programs that link to it (SPEC 95)."""
    asked = {"url": SHOP, "timestamp": "20260502080000"}
    found = shop.get("/api/replay/resolve", params=asked).json()
    assert (found["found"], found["snapshotId"]) == (True, 2)
    assert found["browseUrl"] == f"/web/20260502120000/{SHOP}"
    assert (
        shop.get("/api/replay/resolve", params={**asked, "url": "https://no.example/"}).json()["found"]
        is False
    )
    assert shop.get("/api/replay/resolve", params={**asked, "jobId": 5}).json()["found"] is False
    assert shop.get("/api/replay/resolve", params={**asked, "timestamp": "2026"}).status_code == 422
    for bad in ("javascript:alert(1)", "http://", "ftp://shop.example/", "http://[::1/"):
        answer = shop.get("/api/replay/resolve", params={**asked, "url": bad})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_replay_address")
    assert shop.get("/api/replay/resolve", params={**asked, "timestamp": "20261301000000"}).status_code == 400


def test_another_replay_is_pointed_to(serve: Serve, shop: Served) -> None:
    """Where one is set; this one goes on showing."""
    other = serve(replay_base_url="pywb.example/shop/")
    found = other.get("/api/replay/resolve", params={"url": SHOP, "timestamp": "20260502080000"}).json()
    assert found["browseUrl"] == f"https://pywb.example/shop/20260502120000/{SHOP}"
    assert other.get(f"/web/20260502120000mp_/{SHOP}").status_code == 200
    assert shop.address != other.address


def test_feeds_can_be_read(shop: Served) -> None:
    """By their readers' own parsers, whatever is in a URL."""
    rss = parsed(shop, "/api/changes/rss")
    assert len(rss.findall("./channel/item")) == 3
    assert rss.findtext("./channel/item/link", "").startswith(shop.address)
    atom = parsed(shop, "/api/changes/atom?source=shop.example")
    assert len(atom.findall("{http://www.w3.org/2005/Atom}entry")) == 3
    feed = shop.get("/api/changes/feed.json").json()
    assert feed["version"].endswith("1.1")
    assert len({each["id"] for each in feed["items"]}) == 3
