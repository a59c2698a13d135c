"""Retention in the workshop: holds, days, and a plan that takes what it said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.models import AuditEntry, CrawlSession
from crawler.retention import cleanup
from tests.unit.archive.stored import keep
from tests.unit.retention.contents import contents_of
from tests.unit.views.rows import THEN, a_session
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import OWN, expire, token_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served

ROOM = "/admin/api/retention"
WITH_TOKEN = {"X-Admin-Key": TOKEN}


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
    form["why"] = "case 17"
    for bad, status in (({"name": "ffffffff"}, 404), ({"form_token": "0"}, 403)):
        assert inside.client.post("/admin/holds", data={**form, **bad}, headers=OWN).status_code == status
    done = inside.client.post("/admin/holds", data=form, headers=OWN)
    assert "is held" in inside.get(done.headers["location"]).text
    page = inside.get("/admin/retention").text
    assert "case 17" in page
    assert "Lift the holds of legal" in page
    lifting = {**form, "of": "legal", "who": "ops", "why": "closed"}
    done = inside.client.post("/admin/holds/lift", data=lifting, headers=OWN)
    assert "1 lifted" in inside.get(done.headers["location"]).text
    with inside.database.read() as db:
        entries = [
            (each.action, each.actor) for each in db.scalars(select(AuditEntry).order_by(AuditEntry.id))
        ]
    assert entries == [("retention.hold", "legal"), ("retention.unhold", "ops")]


def test_a_cleanup_takes_what_the_plan_said(inside: Served) -> None:
    """A plan that is out of date by the time it is applied is refused, and takes nothing."""
    for _ in range(2):
        expire(inside, keep(inside.database, inside.blobs, "<title>old</title>"))
    page = inside.get("/admin/retention?plan=1").text
    assert "Snapshots and texts of all other pages go with their sessions" in page
    digest = re.findall(r'name="digest" value="(\w+)"', page)[0]
    late = keep(inside.database, inside.blobs, "<title>late</title>")
    expire(inside, late)
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
        refused = inside.client.post("/admin/retention/days", data={**form, **wrong}, headers=OWN)
        assert refused.status_code == 400


POLICY = '{"action": "update_policy", "collectionName": '


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ("{", 400, "Invalid JSON body"), ("[]", 400, "Invalid JSON body"),
        ('{"action": "x"}', 400, "Unknown action: x"),
        ('{"action": "update_policy"}', 400, "Missing collectionName or ttlDays"),
        (f'{POLICY}"hauls", "ttlDays": -1}}', 400, "TTL must be at least 1"),
        (f'{POLICY}"hauls", "ttlDays": [1]}}', 400, "TTL must be a whole"),
        (f'{POLICY}"listings", "ttlDays": 5}}', 400, "is exempt"),
        (f'{POLICY}"unknown", "ttlDays": 5}}', 400, "no collection"),
        ('{"action": "cleanup"}', 400, "Missing dryRun"),
        ('{"action": "cleanup", "dryRun": 1}', 400, "Missing dryRun"),
        ('{"action": "cleanup", "dryRun": true}', 200, ""),
    ],
)  # fmt: skip
def test_each_wrong_request_has_its_sentence(served: Served, body: str, status: int, error: str) -> None:
    """As the programs of the reference are answered."""
    response = served.client.post(ROOM, content=body, headers=WITH_TOKEN)
    assert response.status_code == status
    assert error in response.json().get("error", "")


def test_a_dry_run_leaves_everything_as_it_is(served: Served) -> None:
    """Not even a session whose process is gone is ended by it; a pass does that first."""
    with served.database.write() as db:
        db.add(a_session(status="running", finished_at=None, owner="gone", alive_until=THEN))
    before = contents_of(served.database)
    for dry, is_same in ((True, True), (False, False)):
        order = {"action": "cleanup", "dryRun": dry}
        assert served.client.post(ROOM, json=order, headers=WITH_TOKEN).status_code == 200
        assert (contents_of(served.database)["sessions"] == before["sessions"]) is is_same
        assert (contents_of(served.database) == before) is is_same


def test_policies_and_results_are_shown(served: Served) -> None:
    """A policy that was set is there at once; a real cleanup is the last one, a dry run is not."""
    before = served.get(ROOM, headers=WITH_TOKEN).json()
    assert before["lastCleanup"] is None
    assert {"collectionName": "hauls", "ttlDays": 30} in before["config"]["policies"]
    days = {"action": "update_policy", "collectionName": "hauls", "ttlDays": 31}
    changed = served.client.post(ROOM, json=days, headers=WITH_TOKEN).json()
    assert {"collectionName": "hauls", "ttlDays": 31} in changed["config"]["policies"]
    dry = served.client.post(ROOM, json={"action": "cleanup", "dryRun": True}, headers=WITH_TOKEN).json()
    assert (dry["result"]["dryRun"], dry["result"]["totalDocumentsDeleted"]) == (True, 0)
    assert served.get(ROOM, headers=WITH_TOKEN).json()["lastCleanup"] is None
    served.client.post(ROOM, json={"action": "cleanup", "dryRun": False}, headers=WITH_TOKEN)
    last = served.get(ROOM, headers=WITH_TOKEN).json()["lastCleanup"]
    assert last["dryRun"] is False
    assert {each["collection"] for each in last["details"]} == {
        each["collectionName"] for each in before["config"]["policies"]
    }


def test_requests_begin_a_cleanup_where_that_is_on(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind answers of the API, and of no page for readers; an error in it reaches nobody."""
    begun: list[str] = []

    def claim(_: object) -> bool:
        begun.append("now")
        raise OSError("the volume is away")

    monkeypatch.setattr(cleanup, "claim_hour", claim)
    monkeypatch.setattr(cleanup, "CHANCE", 1.0)
    off, on = serve(), serve(retention_cleanup_enabled=True)
    assert off.get("/api/health").status_code == on.get("/search").status_code == 200
    assert begun == []
    assert on.get("/api/health").status_code == 200
    wait_for(lambda: begun)
    assert begun == ["now"]
    assert on.get("/api/stats").status_code == 200
