"""The archive for programs: its numbers, its sources, their editions and previews."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from sqlalchemy import select

from crawler.db.models import Artifact, Page, Snapshot
from tests.unit.views.rows import a_job

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


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
