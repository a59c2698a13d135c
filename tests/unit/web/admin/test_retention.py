"""Retention in the workshop: a plan takes what it said, and each wrong order has its sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.unit.archive.stored import keep
from tests.unit.retention.contents import contents_of
from tests.unit.views.rows import THEN, a_session
from tests.unit.web.conftest import TOKEN
from tests.unit.web.inside import OWN, expire, token_of

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


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
        assert (
            inside.client.post("/admin/retention/days", data={**form, **wrong}, headers=OWN).status_code
            == 400
        )


API, ROOM = "/api/admin/jobs", "/admin/api/retention"


SET_DAYS = {"action": "update_policy", "collectionName": "hauls", "ttlDays": 31}


RETENTION_REQUESTS = (
    ("{", 400, "Invalid JSON body"),
    ("[]", 400, "Invalid JSON body"),
    ('{"action": "x"}', 400, "Unknown action: x"),
    ('{"action": "update_policy"}', 400, "Missing collectionName or ttlDays"),
    (
        '{"action": "update_policy", "collectionName": "hauls", "ttlDays": -1}',
        400,
        "TTL must be at least 1",
    ),
    (
        '{"action": "update_policy", "collectionName": "hauls", "ttlDays": [1]}',
        400,
        "TTL must be a whole",
    ),
    ('{"action": "update_policy", "collectionName": "listings", "ttlDays": 5}', 400, "is exempt"),
    ('{"action": "update_policy", "collectionName": "unknown", "ttlDays": 5}', 400, "no collection"),
    ('{"action": "cleanup"}', 400, "Missing dryRun"),
    ('{"action": "cleanup", "dryRun": 1}', 400, "Missing dryRun"),
    ('{"action": "cleanup", "dryRun": true}', 200, ""),
    ('{"action": "cleanup", "dryRun": false}', 200, ""),
)


def test_retention_takes_what_it_says(served: Served) -> None:
    """Each wrong request has its sentence (SPEC E124-134)."""
    for body, status, error in RETENTION_REQUESTS:
        response = served.client.post(ROOM, content=body, headers={"X-Admin-Key": TOKEN})
        assert (body, response.status_code) == (body, status)
        assert error in response.json().get("error", "")


def test_a_dry_run_leaves_everything_as_it_is(served: Served) -> None:
    """Not even a session whose process is gone is ended by it; a pass does that first (SPEC B47)."""
    with served.database.write() as db:
        db.add(a_session(status="running", finished_at=None, owner="gone", alive_until=THEN))
    before = contents_of(served.database)
    for dry, is_same in ((True, True), (False, False)):
        order = {"action": "cleanup", "dryRun": dry}
        assert served.client.post(ROOM, json=order, headers={"X-Admin-Key": TOKEN}).status_code == 200
        assert (contents_of(served.database)["sessions"] == before["sessions"]) is is_same
        assert (contents_of(served.database) == before) is is_same


def test_policies_and_results_are_shown(served: Served) -> None:
    """A policy that was set is there at once; a real cleanup is the last one, a dry run is not."""
    headers = {"X-Admin-Key": TOKEN}
    before = served.get(ROOM, headers=headers).json()
    assert before["lastCleanup"] is None
    assert {"collectionName": "hauls", "ttlDays": 30} in before["config"]["policies"]
    changed = served.client.post(ROOM, json=SET_DAYS, headers=headers).json()
    assert {"collectionName": "hauls", "ttlDays": 31} in changed["config"]["policies"]
    dry = served.client.post(ROOM, json={"action": "cleanup", "dryRun": True}, headers=headers).json()[
        "result"
    ]
    assert dry["dryRun"] is True
    assert dry["totalDocumentsDeleted"] == 0
    assert served.get(ROOM, headers=headers).json()["lastCleanup"] is None
    served.client.post(ROOM, json={"action": "cleanup", "dryRun": False}, headers=headers)
    last = served.get(ROOM, headers=headers).json()["lastCleanup"]
    assert last["dryRun"] is False
    assert {each["collection"] for each in last["details"]} == {
        each["collectionName"] for each in before["config"]["policies"]
    }
