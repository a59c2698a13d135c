"""The first page: what to do where nothing is yet, and what is stuck."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import JobStep
from tests.unit.web.inside import a_job

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


def test_nothing_is_there_yet(served: Served) -> None:
    """Empty pages say what to do."""
    assert "vitrine demo" in served.get("/").text
    assert "vitrine snapshots index" in served.get("/search").text
    assert "vitrine crawl pdp" in served.get("/sites").text


def test_an_operator_sees_what_is_stuck_and_why(inside: Served) -> None:
    """In the workshop; strangers read nothing of it."""
    now = utc_now()
    stuck = a_job(inside, "running")
    with inside.database.write() as db:
        step = db.scalars(select(JobStep)).one()
        step.status, step.lease_owner = "in_progress", "gone-host:1"
        step.lease_expires_at = now - timedelta(hours=1)
    page = inside.get("/admin").text
    assert f"Job {stuck} is stuck" in page
    assert "Its worker is gone" in page
    assert "<code>vitrine worker</code>" in page
    assert "stuck" not in inside.get("/").text + inside.get("/index.json").text
