"""`vitrine sessions`: what several came to in one number, and what is shown of one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest

from crawler.cli.sessions import exit_code
from crawler.views import sessions as views
from tests.unit.views.rows import HOUR, NOW, THEN, a_line, a_page, a_session, an_artifact

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine

DAY = timedelta(days=1)
KEY = UUID("abcdef00-0000-4000-8000-000000000001")
LOCKED = "failed: Domain lock timeout"


@pytest.mark.parametrize(
    ("ends", "code"),
    [
        (["completed"], 0),
        (["partial"], 3),
        (["failed"], 1),
        (["running"], 1),
        ([LOCKED], 5),
        (["completed", "completed"], 0),
        (["completed", "failed"], 3),
        (["partial", "failed"], 3),
        (["failed", "failed"], 1),
        ([LOCKED, LOCKED], 1),
        ([], 1),
    ],
)
def test_the_exit_code_tells_the_truth(database: Database, ends: list[str], code: int) -> None:
    """All well is 0, none well is 1, anything else 3; a domain that was not to be had is 5."""
    with database.write() as db:
        for end in ends:
            status, _, summary = end.partition(": ")
            db.add(a_session(status=status, error_summary=summary or None))
        db.flush()
        found = views.newest(db, NOW)
    assert len(found) == len(ends)
    assert exit_code(found) == code


@pytest.fixture
def stored(database: Database) -> None:
    """A session that failed, with a page, a file and a log."""
    wanted = "https://shop.example/p/old"
    session = a_session(
        id=KEY, status="failed", error_summary="Crawl failed", cause="timeout", wanted_pdp_url=wanted
    )
    page = a_page(KEY, low_confidence_reasons=["left_site"])
    with database.write() as db:
        db.add(session)
        db.flush()
        db.add(page)
        db.add(an_artifact(KEY, storage_uri="a/b.gz", size_bytes=2048, deleted_at=THEN + HOUR))
        db.add(a_line(KEY, "session.start", details={"epoch": 1, "none": None}))


def test_one_is_shown_with_all_that_is_known(vitrine: Vitrine, stored: None, database_url: str) -> None:
    """Why it failed, its product, its pages with their doubts, its files, its log."""
    done = vitrine("sessions", "show", "abcdef", DATABASE_URL=database_url)
    assert done.code == 0
    for text in (
        f"{KEY}  ✗ failed  Crawl failed (timeout)", "policy v1.2  attempt 1", "product: A chair  19.90 EUR",
        "asked for: https://shop.example/p/old", "left_site", "2.0 KiB",
        "2026-03-01 13:00:00Z", "session.start", "epoch=1",
    ):  # fmt: skip
        assert text in done.out, text
    assert "none=" not in done.out


def test_they_are_found_by_what_is_known_and_paged(
    vitrine: Vitrine, database: Database, database_url: str
) -> None:
    """A domain in any spelling, a cause, days; and the next page behind the last of this one."""
    with database.write() as db:
        for number in range(4):
            db.add(a_session(
                id=UUID(int=(number + 1) << 96), domain="shop.example", created_at=THEN + number * DAY,
                status="failed", cause="timeout" if number else "robots_refused",
            ))  # fmt: skip
        db.add(a_session(domain="other.example", created_at=THEN))

    def found(*wanted: str) -> list[int]:
        done = vitrine("sessions", "list", "--json", *wanted, DATABASE_URL=database_url)
        return [(UUID(each["id"]).int >> 96) - 1 for each in done.document["sessions"]]

    for spelling in ("shop.example", "WWW.Shop.Example", "https://www.shop.example/a?b"):
        assert found("--domain", spelling) == [3, 2, 1, 0]
    assert found("--cause", "robots_refused") == [0]
    day = f"{THEN + 2 * DAY:%Y-%m-%d}"
    assert found("--domain", "shop.example", "--since", day) == [3, 2]
    assert found("--domain", "shop.example", "--until", day) == [1, 0]
    assert found("--domain", "shop.example", "--limit", "2") == [3, 2]
    assert found("--domain", "shop.example", "--limit", "2", "--after", "00000003") == [1, 0]
    assert "more: --after 00000003" in vitrine("sessions", "list", "--limit", "2").err
    assert vitrine("sessions", "list", "--since", "soon").code == 2
    assert vitrine("sessions", "list", "--cause", "odd").code == 2


@pytest.mark.usefixtures("stored")
def test_a_report_is_one_file(vitrine: Vitrine, database_url: str, tmp_path: Path) -> None:
    """Under a name of its own, where it was wanted, or on standard output; its path is told."""
    url = {"DATABASE_URL": database_url}
    done = vitrine("sessions", "report", str(KEY)[:8], **url)
    assert (done.code, done.out) == (0, "session-abcdef00.html\n")
    assert (tmp_path / "session-abcdef00.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert vitrine("sessions", "report", str(KEY), "--out", "-", **url).out.startswith("<!doctype html>")
    refused = vitrine("sessions", "report", str(KEY), "--out", "nowhere/at/all.html", **url)
    assert (refused.code, "cannot be written" in refused.err) == (2, True)
