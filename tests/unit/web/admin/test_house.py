"""Sources, WARC files, the audit log and the settings in the workshop."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawler.db.models import AuditEntry, RegisteredSource, WarcFile
from crawler.web.admin import house
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    import pytest

    from tests.unit.web.conftest import Served

AT = datetime(2026, 5, 1, tzinfo=UTC)


def test_the_log_goes_back_page_by_page(inside: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a link to the next, each entry once; what somebody wrote is no markup."""
    monkeypatch.setattr(house, "MOST", 2)
    with inside.database.write() as db:
        for number in range(3):
            db.add(
                AuditEntry(
                    timestamp=AT, actor="<b>me", action="x", subject=f"{number}", details={"why": "<i>"}
                )
            )
    newest = inside.get("/admin/audit.json").json()
    older = inside.get(f"/admin/audit.json?before={newest[-1]['id']}").json()
    assert [each["subject"] for each in (*newest, *older)] == ["2", "1", "0"]
    page = inside.get("/admin/audit").text
    assert f"before={newest[-1]['id']}" in page
    assert "<b>me" not in page
    assert f"before={older[-1]['id']}" not in inside.get(f"/admin/audit?before={newest[-1]['id']}").text
    for wrong in ("0", "-1", "x", "9" * 30):
        assert inside.get(f"/admin/audit?before={wrong}").status_code == 422


def test_files_of_a_state(inside: Served) -> None:
    """One that there is; any other word is none."""
    with inside.database.write() as db:
        for state in ("open", "sealed"):
            db.add(WarcFile(folder="/a", path=f"{state}.warc.gz", state=state, created_at=AT))
    assert [each["state"] for each in inside.get("/admin/warcs.json?state=open").json()] == ["open"]
    assert len(inside.get("/admin/warcs.json?state=odd").json()) == 2
    assert "No WARC file is like that" in inside.get("/admin/warcs?state=gone").text


def test_sources_that_are_registered_alone_are_shown(inside: Served) -> None:
    """Beside those of the file, whatever is wrong with the file's own."""
    with inside.database.write() as db:
        db.add(RegisteredSource(code="lost", name="<b>Lost", created_at=AT, updated_at=AT))
    found = {each["code"]: each for each in inside.get("/admin/sources.json").json()}
    assert (found["lost"]["is_registered"], found["lost"]["start_urls"]) == (True, [])
    assert len(found) > 1
    assert "<b>Lost" not in inside.get("/admin/sources").text


def test_settings_are_shown_without_a_secret(inside: Served) -> None:
    """Of the token only that it is set."""
    found = {each["name"]: each for each in inside.get("/admin/system.json").json()}
    assert not found["ADMIN_TOKEN"]["is_default"]
    assert found["WEB_READ_ONLY"]["is_default"]
    for form in ("", ".json", ".csv"):
        assert TOKEN not in inside.get(f"/admin/system{form}").text
