"""The workshop's rooms: what each shows, and that nothing somebody wrote is markup."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.access.acquisition import open_gate
from crawler.access.gate import Held
from crawler.clock import utc_now
from crawler.db.models import (
    Artifact,
    AuditEntry,
    CrawlSession,
    DomainDay,
    Job,
    JobStep,
    RegisteredSource,
    WarcFile,
)
from crawler.web.admin import house
from tests.unit.archive.stored import keep
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import OWN, a_job, token_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.access.gate import Gate
    from tests.unit.web.conftest import Served

AT = datetime(2026, 5, 1, tzinfo=UTC)
ROOMS = (
    "/admin", "/admin/jobs", "/admin/jobs?status=failed", "/admin/jobs?status=queued", "/admin/runs",
    "/admin/runs?status=failed", "/admin/sessions", "/admin/sessions?status=failed&domain=a.example",
    "/admin/domains", "/admin/domains/shop.example", "/admin/sources", "/admin/warcs",
    "/admin/warcs?state=damaged", "/admin/retention", "/admin/retention?plan=1", "/admin/audit",
    "/admin/system",
)  # fmt: skip


def test_every_room_opens_with_and_without_anything_in_it(inside: Served) -> None:
    """For who has logged in; for others it shows the door, and nothing that is behind it."""
    ways = inside.get("/admin").text.partition('class="subnav"')[2].partition("</nav>")[0]
    assert {"/admin/sessions"} <= set(re.findall(r'<a href="([^"]+)"', ways)) <= set(ROOMS)
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


def test_a_link_from_elsewhere_puts_no_sentence_on_a_page(inside: Served) -> None:
    """What was done is said in words of ours."""
    job, forged = a_job(inside, "failed"), "Send your token to evil.example"
    for path in (f"/admin/jobs/{job}", "/admin/retention"):
        for code in (forged, "retention.purge", "{subject}", "retention.hold"):
            page = inside.get(path, params={"done": code}).text
            assert "Done:" not in page
            assert forged not in page


@pytest.fixture
def gate(inside: Served) -> Iterator[Gate]:
    """The gate of the site, at which somebody holds a domain."""
    found = open_gate(inside.stores.settings, inside.database)
    assert isinstance(found.acquire(HELD, "no-session", VALUE), Held)
    yield found
    found.close()


HELD = "shop.example"
VALUE = "vitrine:<b>host:1:0:no-session:nonce"


def test_who_holds_a_domain_is_shown(inside: Served, gate: Gate) -> None:
    """In the list and on its own page, with its last days; a lock's value is anybody's text."""
    with inside.database.write() as db:
        for domain, sessions in ((HELD, 7), ("other.example", 9)):
            db.add(DomainDay(domain=domain, timestamp=db.now, sessions=sessions, latencies={}))
    [listed] = inside.get("/admin/domains.json").json()
    assert (listed["domain"], listed["state"], listed["host"]) == (HELD, "held", "<b>host")
    shown = inside.get(f"/admin/domains/www.{HELD.upper()}.json").json()
    assert (shown["domain"]["domain"], [day["sessions"] for day in shown["days"]]) == (HELD, [7])
    for path in ("/admin/domains", f"/admin/domains/{HELD}"):
        assert "<b>host" not in inside.get(path).text
    assert inside.get("/admin/domains.csv").text.splitlines()[1].startswith(f"{HELD},held")
    for name in ("..", "a%20b", "%E2%80%AE", "-", "x" * 300):
        assert inside.get(f"/admin/domains/{name}").status_code in {200, 400, 404, 422}


def test_only_the_lock_that_was_shown_is_broken(inside: Served, gate: Gate) -> None:
    """Not one that came meanwhile; it is on record who was locked out, and once."""

    def release(value: str) -> tuple[int, str]:
        form = {"form_token": token_of(inside.get("/admin/holds/new").text), "value": value}
        answer = inside.client.post(f"/admin/domains/{HELD}/release", data=form, headers=OWN)
        return answer.status_code, answer.json()["code"] if answer.content else ""

    assert release("another:value") == (409, "locked")
    assert release("") == (409, "locked")
    assert gate.state(HELD).value == VALUE
    assert release(VALUE) == (303, "")
    assert gate.state(HELD).value is None
    assert release(VALUE) == (404, "not_found")
    with inside.database.read() as db:
        [entry] = db.scalars(select(AuditEntry))
    assert (entry.action, entry.subject, entry.details["value"]) == ("domains.release", HELD, VALUE)


def test_the_audit_log_goes_back_page_by_page(inside: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a link to the next, each entry once; what somebody wrote is no markup."""
    monkeypatch.setattr(house, "MOST", 2)
    with inside.database.write() as db:
        for number in range(3):
            entry = {"actor": "<b>me", "action": "x", "subject": f"{number}", "details": {"why": "<i>"}}
            db.add(AuditEntry(timestamp=AT, **entry))
    newest = inside.get("/admin/audit.json").json()
    older = inside.get(f"/admin/audit.json?before={newest[-1]['id']}").json()
    assert [each["subject"] for each in (*newest, *older)] == ["2", "1", "0"]
    page = inside.get("/admin/audit").text
    assert f"before={newest[-1]['id']}" in page
    assert "<b>me" not in page
    assert f"before={older[-1]['id']}" not in inside.get(f"/admin/audit?before={newest[-1]['id']}").text
    for wrong in ("0", "-1", "x", "9" * 30):
        assert inside.get(f"/admin/audit?before={wrong}").status_code == 422


def test_files_and_sources_are_listed(inside: Served) -> None:
    """Files by a state that there is; sources that are registered beside those of the file."""
    with inside.database.write() as db:
        for state in ("open", "sealed"):
            db.add(WarcFile(folder="/a", path=f"{state}.warc.gz", state=state, created_at=AT))
        db.add(RegisteredSource(code="lost", name="<b>Lost", created_at=AT, updated_at=AT))
    assert [each["state"] for each in inside.get("/admin/warcs.json?state=open").json()] == ["open"]
    assert len(inside.get("/admin/warcs.json?state=odd").json()) == 2
    assert "No WARC file is like that" in inside.get("/admin/warcs?state=gone").text
    found = {each["code"]: each for each in inside.get("/admin/sources.json").json()}
    assert (found["lost"]["is_registered"], len(found) > 1) == (True, True)
    assert "<b>Lost" not in inside.get("/admin/sources").text


def test_settings_are_shown_without_a_secret(inside: Served) -> None:
    """Of the token only that it is set."""
    found = {each["name"]: each for each in inside.get("/admin/system.json").json()}
    assert not found["ADMIN_TOKEN"]["is_default"]
    assert found["WEB_READ_ONLY"]["is_default"]
    for form in ("", ".json", ".csv"):
        assert TOKEN not in inside.get(f"/admin/system{form}").text


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


def test_what_may_be_done_with_a_job_is_offered_and_nothing_else(inside: Served) -> None:
    """By its state; what is not legal is refused as well, and what was done is on record."""
    failed, queued, done = (a_job(inside, state) for state in ("failed", "queued", "indexed"))
    page = inside.get(f"/admin/jobs/{failed}").text
    assert "Try again" in page
    assert "Try again" not in inside.get(f"/admin/jobs/{queued}").text
    assert "Index again" in inside.get(f"/admin/jobs/{done}").text
    form = {"form_token": token_of(page)}
    for path in (f"{queued}/retry", f"{queued}/index"):
        refused = inside.client.post(f"/admin/jobs/{path}", data=form, headers=OWN)
        assert (refused.status_code, refused.json()["code"]) == (409, "job_state")
    retried = inside.client.post(f"/admin/jobs/{failed}/retry", data=form, headers=OWN)
    assert retried.status_code == 303
    assert "Done: it is tried again." in inside.get(retried.headers["location"]).text
    assert inside.client.post(f"/admin/jobs/{done}/index", data=form, headers=OWN).status_code == 303
    with inside.database.read() as db:
        assert db.get_one(Job, failed).status == "retryable"
        step = db.scalars(select(JobStep).where(JobStep.job_id == done, JobStep.kind == "index")).one()
        entries = [(each.action, each.actor) for each in db.scalars(select(AuditEntry))]
    assert step.status == "pending"
    assert sorted(entries) == [("job.index", "web"), ("job.retry", "web")]


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
        for hidden in ("canary-pw", "\x1b", "root:"):
            assert hidden not in text
        with inside.database.write() as db:
            db.delete(db.get_one(Job, job))


def test_the_page_of_a_job_says_what_became_of_it(inside: Served) -> None:
    """That it is stuck and why, on the first page too, not outside; and that a purge took its files."""
    job = a_job(inside, "running")
    with inside.database.write() as db:
        step = db.scalars(select(JobStep)).one()
        step.status, step.lease_owner = "in_progress", "gone-host:1"
        step.lease_expires_at = utc_now() - timedelta(hours=1)
        db.get_one(Job, job).emptied_at = datetime(2026, 5, 3, 12, tzinfo=UTC)
    home = inside.get("/admin").text
    for said in (f"Job {job} is stuck", "Its worker is gone", "<code>vitrine worker</code>"):
        assert said in home
    assert "stuck" not in inside.get("/").text + inside.get("/index.json").text
    page = inside.get(f"/admin/jobs/{job}").text
    for said in (f"Job {job} is stuck", "left behind", "A purge took the last of its WARC files"):
        assert said in page
    assert "emptied by a purge <time" in inside.get("/admin/jobs").text
    found = inside.get(f"/api/admin/jobs/{job}", headers={"X-Admin-Token": TOKEN}).json()
    assert found["emptiedAt"].startswith("2026-05-03T12:00:00")
