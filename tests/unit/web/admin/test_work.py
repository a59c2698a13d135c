"""Sessions and runs in the workshop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.db.models import Artifact, CrawlSession
from tests.unit.archive.stored import keep
from tests.unit.web.inside import OWN, token_of

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


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
