"""What tests of the web side have and do: its routes, a job, the token of a form."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import Artifact, Job, JobStep, RegisteredSource
from crawler.web.app import create_app

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from tests.unit.web.conftest import Served


OWN = {"Sec-Fetch-Site": "same-origin"}
GUARDED = ("/admin", "/api/admin", "/metrics")
DOORS = {"/admin/login", "/admin/logout"}
EXAMPLES = {"job_id": "1", "run_id": "1", "session_id": "abc", "domain": "shop.example"}


def routes_of(served: Served) -> list[tuple[str, str]]:
    """Every method and path that the app knows."""
    found = []
    for each in _flat(create_app(served.stores).routes):
        path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda part: EXAMPLES.get(part[1], "1"), each.path)
        found += [(method, path) for method in sorted(each.methods)]
    return found


def _flat(routes: Iterable[Any]) -> Iterator[Any]:
    """Routes, and those of routers that were included."""
    for each in routes:
        router = getattr(each, "original_router", each)
        if inner := getattr(router, "routes", None):
            yield from _flat(inner)
        elif getattr(each, "methods", None):
            yield each


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


def expire(served: Served, artifact: UUID) -> None:
    """Let its days be over since two days."""
    with served.database.write() as db:
        db.get_one(Artifact, artifact).retention_until = utc_now() - timedelta(days=2)
