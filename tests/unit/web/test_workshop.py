"""The workshop as somebody sees it who has logged in: what is shown, what may be done, and what is not."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import Artifact, AuditEntry, CrawlSession, Job, JobStep, RegisteredSource
from tests.unit.archive.stored import keep
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from uuid import UUID

    from tests.unit.web.conftest import Served

OWN = {"Sec-Fetch-Site": "same-origin"}
ROOMS = (
    "/admin", "/admin/jobs", "/admin/jobs?status=failed", "/admin/jobs?status=queued", "/admin/runs",
    "/admin/runs?status=failed", "/admin/sessions", "/admin/sessions?status=failed&domain=a.example",
    "/admin/domains", "/admin/domains/shop.example", "/admin/sources", "/admin/warcs",
    "/admin/warcs?state=damaged", "/admin/retention", "/admin/retention?plan=1", "/admin/audit",
    "/admin/system",
)  # fmt: skip


@pytest.fixture
def inside(served: Served) -> Served:
    """A browser that has logged in."""
    response = served.client.post("/admin/login", data={"token": TOKEN, "next": "/admin"}, headers=OWN)
    assert response.status_code == 303
    return served


def a_job(served: Served, status: str, **columns: Any) -> int:
    """A job of a source with a long name and markup in it, and its crawl."""
    now = utc_now()
    with served.database.write() as db:
        source = db.scalars(select(RegisteredSource)).first()
        if source is None:
            source = RegisteredSource(code="x" * 500, name="<b>bold</b>" * 40, created_at=now, updated_at=now)
            db.add(source)
            db.flush()
        row = Job(
            name=f"{status}-job", status=status, source_id=source.id, output_dir=f"/archive/{status}",
            created_at=now, updated_at=now, queued_at=now, **columns,
        )  # fmt: skip
        db.add(row)
        db.flush()
        db.add(
            JobStep(
                job_id=row.id, status="error", detail={}, next_run_at=now, created_at=now, updated_at=now,
                last_error="exit code 9\n<script>alert(1)</script>", attempts=3,
            )
        )  # fmt: skip
        return row.id


def token_of(page: str) -> str:
    """The token of a page's forms."""
    [token, *_] = re.findall(r'name="form_token" value="(\w+)"', page)
    return str(token)


def test_every_room_opens_with_and_without_anything_in_it(inside: Served) -> None:
    """For who has logged in; for others it shows the door, and nothing that is behind it."""
    for path in ROOMS:
        assert (path, inside.get(path).status_code) == (path, 200)
    keep(inside.database, inside.blobs, "<title>x</title>")
    failed = a_job(inside, "failed")
    rooms = (*ROOMS, f"/admin/jobs/{failed}", f"/admin/jobs/{failed}.json", "/admin/jobs.csv")
    for path in rooms:
        response = inside.get(path)
        assert (path, response.status_code) == (path, 200)
        assert "<b>bold" not in response.text or path.endswith((".csv", ".json"))
        assert "<script>alert" not in response.text or path.endswith(".json")
    inside.client.cookies.clear()
    for path in rooms:
        response = inside.get(path, headers={"Accept": "text/html"})
        assert (path, response.status_code) == (path, 401)
        assert "failed-job" not in response.text


def test_what_may_be_done_is_offered_and_nothing_else(inside: Served) -> None:
    """By the state of the job; what is not legal is refused as well."""
    failed, queued = a_job(inside, "failed"), a_job(inside, "queued")
    page = inside.get(f"/admin/jobs/{failed}").text
    assert "Try again" in page
    assert "Try again" not in inside.get(f"/admin/jobs/{queued}").text
    form = {"form_token": token_of(page)}
    refused = inside.client.post(f"/admin/jobs/{queued}/retry", data=form, headers=OWN)
    assert (refused.status_code, refused.json()["code"]) == (409, "job_state")
    done = inside.client.post(f"/admin/jobs/{failed}/retry", data=form, headers=OWN)
    assert done.status_code == 303
    with inside.database.read() as db:
        assert db.get_one(Job, failed).status == "retryable"
        [entry] = db.scalars(select(AuditEntry))
    assert (entry.action, entry.actor) == ("job.retry", "web")


def test_a_form_of_another_site_changes_nothing(inside: Served) -> None:
    """Without the form's token, with that of another login, or from elsewhere."""
    failed = a_job(inside, "failed")
    good = {"form_token": token_of(inside.get(f"/admin/jobs/{failed}").text)}
    path = f"/admin/jobs/{failed}/retry"
    for form, headers in (
        ({}, OWN), ({"form_token": "0" * 64}, OWN), (good, {"Sec-Fetch-Site": "cross-site"}),
        (good, {"Origin": "http://evil.example"}), (good, {}),
    ):  # fmt: skip
        assert inside.client.post(path, data=form, headers=headers).status_code == 403
    assert inside.get(path).status_code == 405
    with inside.database.read() as db:
        assert db.get_one(Job, failed).status == "failed"


def test_a_cleanup_takes_what_the_plan_said(inside: Served) -> None:
    """A plan that is out of date by the time it is applied is refused, and takes nothing."""
    for _ in range(2):
        _expire(inside, keep(inside.database, inside.blobs, "<title>old</title>"))
    page = inside.get("/admin/retention?plan=1").text
    digest = re.findall(r'name="digest" value="(\w+)"', page)[0]
    late = keep(inside.database, inside.blobs, "<title>late</title>")
    _expire(inside, late)
    form = {"form_token": token_of(page), "digest": digest}
    refused = inside.client.post("/admin/retention/cleanup", data=form, headers=OWN)
    assert (refused.status_code, refused.json()["code"]) == (409, "plan_changed")
    form["digest"] = re.findall(r'name="digest" value="(\w+)"', inside.get("/admin/retention?plan=1").text)[0]
    done = inside.client.post("/admin/retention/cleanup", data=form, headers=OWN)
    assert done.status_code == 303
    assert "3 files" in inside.get(done.headers["location"]).text
    assert "Nothing would go" in inside.get("/admin/retention?plan=1").text


def test_days_are_set_on_the_page(inside: Served) -> None:
    """And what is no number of days is a page that says so."""
    form = {"form_token": token_of(inside.get("/admin/retention").text), "collection": "hauls", "days": "44"}
    assert inside.client.post("/admin/retention/days", data=form, headers=OWN).status_code == 303
    assert 'value="44"' in inside.get("/admin/retention").text
    for wrong in ({"days": "x"}, {"days": "-3"}, {"collection": "listings"}, {"collection": ""}):
        assert (
            inside.client.post("/admin/retention/days", data={**form, **wrong}, headers=OWN).status_code
            == 400
        )


def test_the_end_of_a_log_is_fit_to_be_shown(inside: Served) -> None:
    """No password, nothing that steers a terminal, and no file but the job's own."""
    folder = inside.stores.settings.vitrine_home / "archive"
    folder.mkdir(parents=True)
    log = folder / "archive_crawl.combined.log"
    log.write_text("\x1b[31mred\nGET https://u:canary-pw@shop.example/\n<i>last</i>\n", encoding="utf-8")
    (folder / "link.log").symlink_to("/etc/passwd")
    (folder / "archive_link.combined.log").symlink_to("/etc/passwd")
    for name, shown in (
        ("archive_crawl.combined.log", True),
        ("link.log", False),
        ("../../x", False),
        ("", True),
    ):
        path = str(folder / name) if name else None  # none yet: the crawl is under way
        job = a_job(inside, "failed", combined_log_path=path)
        with inside.database.write() as db:
            db.get_one(Job, job).output_dir = f"{folder}"
        text = inside.get(f"/admin/jobs/{job}").text
        assert ("&lt;i&gt;last" in text) is shown
        assert "canary-pw" not in text
        assert "\x1b" not in text
        assert "root:" not in text
        with inside.database.write() as db:
            db.delete(db.get_one(Job, job))


def test_an_operator_sees_from_the_overview_what_is_stuck_and_why(inside: Served) -> None:
    """Without the token, too: that, and no more."""
    now = utc_now()
    stuck = a_job(inside, "running")
    with inside.database.write() as db:
        step = db.scalars(select(JobStep)).one()
        step.status, step.lease_owner = "in_progress", "gone-host:1"
        step.lease_expires_at = now - timedelta(hours=1)
    inside.client.cookies.clear()
    page = inside.get("/").text
    assert f"Job {stuck} is stuck" in page
    assert "Its worker is gone" in page
    assert "<code>vitrine worker</code>" in page
    assert "gone-host" not in page


def test_the_page_of_a_job_says_what_became_of_it(inside: Served) -> None:
    """That it is stuck and who goes on with it; that a purge took its files, and when, in lists too."""
    job = a_job(inside, "running")
    with inside.database.write() as db:
        step = db.scalars(select(JobStep)).one()
        step.status, step.lease_owner = "in_progress", "gone-host:1"
        step.lease_expires_at = utc_now() - timedelta(hours=1)
        db.get_one(Job, job).emptied_at = datetime(2026, 5, 3, 12, tzinfo=UTC)
    page = inside.get(f"/admin/jobs/{job}").text
    for said in (f"Job {job} is stuck", "left behind", "A purge took the last of its WARC files"):
        assert said in page
    assert "emptied by a purge <time" in inside.get("/admin/jobs").text
    assert inside.get("/admin/jobs.csv").text.splitlines()[0].endswith(",emptied_at")
    told = inside.get(f"/api/admin/jobs/{job}", headers={"X-Admin-Token": TOKEN}).json()
    assert told["emptiedAt"].startswith("2026-05-03T12:00:00")


def _expire(served: Served, artifact: UUID) -> None:
    with served.database.write() as db:
        db.get_one(Artifact, artifact).retention_until = utc_now() - timedelta(days=2)


def test_a_hold_is_set_and_lifted(inside: Served) -> None:
    """By whose word, and why, is on record; what is no hold says what is missing."""
    keep(inside.database, inside.blobs, "<title>x</title>")
    with inside.database.read() as db:
        session_id = db.scalars(select(CrawlSession.id)).one()
    asked = inside.get(f"/admin/holds/new?kind=session&name={session_id}").text
    assert f"session {session_id}" in asked
    form = {"form_token": token_of(asked), "kind": "session", "name": str(session_id), "who": "legal"}
    for bad in ({}, {"why": " "}, {"why": "x", "until": "2001-01-01"}, {"why": "x", "until": "soon"}):
        refused = inside.client.post("/admin/holds", data={**form, **bad}, headers=OWN)
        assert (refused.status_code, refused.json()["code"]) == (422, "hold_form")
    unknown = {**form, "why": "case 17", "name": "ffffffff"}
    assert inside.client.post("/admin/holds", data=unknown, headers=OWN).status_code == 404
    done = inside.client.post("/admin/holds", data={**form, "why": "case 17"}, headers=OWN)
    assert "is held" in inside.get(done.headers["location"]).text
    page = inside.get("/admin/retention").text
    assert "case 17" in page
    assert "Lift the holds of legal" in page
    lifting = {**form, "of": "legal", "who": "ops", "why": "closed"}
    done = inside.client.post("/admin/holds/lift", data=lifting, headers=OWN)
    assert "1 lifted" in inside.get(done.headers["location"]).text
    with inside.database.read() as db:
        actions = [
            (each.action, each.actor) for each in db.scalars(select(AuditEntry).order_by(AuditEntry.id))
        ]
    assert actions == [("retention.hold", "legal"), ("retention.unhold", "ops")]
    assert (
        inside.client.post("/admin/holds", data={**form, "form_token": "0"}, headers=OWN).status_code == 403
    )


def test_a_job_is_indexed_by_a_worker(inside: Served) -> None:
    """Where its state allows that; the step is due then, and the log says who asked."""
    done, queued = a_job(inside, "indexed"), a_job(inside, "queued")
    page = inside.get(f"/admin/jobs/{done}").text
    assert "Index again" in page
    form = {"form_token": token_of(page)}
    assert inside.client.post(f"/admin/jobs/{queued}/index", data=form, headers=OWN).status_code == 409
    assert inside.client.post(f"/admin/jobs/{done}/index", data=form, headers=OWN).status_code == 303
    with inside.database.read() as db:
        step = db.scalars(select(JobStep).where(JobStep.job_id == done, JobStep.kind == "index")).one()
        [entry] = db.scalars(select(AuditEntry))
    assert (step.status, entry.action) == ("pending", "job.index")


def test_a_session_shows_its_pictures_and_says_how_it_is_made_again(inside: Served) -> None:
    """A picture is that session's, and is there; without a fleet nobody would begin another visit."""
    keep(inside.database, inside.blobs, "<title>x</title>")
    with inside.database.write() as db:
        [row] = db.scalars(select(CrawlSession))
        row.status, session_id = "completed", row.id
        first = db.scalars(select(Artifact)).first()
        assert first is not None
        inside.blobs.publish("pictures/screenshot.png", b"\x89PNG")
        picture = Artifact(
            session_id=session_id, page_id=first.page_id, type="screenshot", created_at=db.now, size_bytes=4,
            storage_uri="pictures/screenshot.png", checksum="c", content_sha256="c", content_type="image/png",
        )  # fmt: skip
        db.add(picture)
        db.flush()
        picture_id, html_id = picture.id, first.id
    page = inside.get(f"/admin/sessions/{session_id}").text
    path = f"/admin/sessions/{session_id}/pictures/"
    assert f'src="{path}{picture_id}"' in page
    shown = inside.get(f"{path}{picture_id}")
    assert (shown.headers["Content-Type"], shown.content) == ("image/png", b"\x89PNG")
    assert inside.get(f"{path}{html_id}").status_code == 404
    assert f"vitrine sessions retry {session_id}" in page
    form = {"form_token": token_of(inside.get("/admin/holds/new").text)}
    refused = inside.client.post(f"/admin/sessions/{session_id}/again", data=form, headers=OWN)
    assert (refused.status_code, refused.json()["code"]) == (503, "no_fleet")
