"""Holds in the workshop: by whose word, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.db.models import AuditEntry, CrawlSession
from tests.unit.archive.stored import keep
from tests.unit.web.inside import OWN, token_of

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


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
