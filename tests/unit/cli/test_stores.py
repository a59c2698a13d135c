"""What commands open: whoever only asks changes nothing."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from sqlalchemy import text
from typer.main import get_command

from crawler.cli.app import complete_app
from crawler.db.engine import Database
from crawler.db.models import CrawlSession, RunWorker
from crawler.evidence.files import gzipped
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import adopt_store
from tests.unit.retention.contents import contents_of
from tests.unit.views import rows
from tests.unit.views.rows import HOUR, THEN

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tests.unit.cli.conftest import Vitrine

SESSION, LISTING, ARTIFACT = UUID(int=1), UUID(int=2), UUID(int=3)
KEPT = gzipped(b"<html>a page</html>")
# Every command that asks, with what it asks about; and what it ends with where that is not 0.
ASKING = dict.fromkeys(
    (
        "notify --dry-run", "schedule shop --at @daily", f"sessions show {SESSION}", "sessions list",
        "runs list", "runs show shop", "runs report 1", "domains list", "domains show shop.example",
        "pages list", "artifacts list", "artifacts verify", f"artifacts cat {ARTIFACT} --decode",
        "products list", "listings list", "prices list", f"prices show {LISTING}", "snapshots list",
        "hauls list", "hauls show spring", "assets list", "assets show 1", "exceptions list",
        "retention policies", "retention holds", "retention orphans", "cleanup --dry-run",
        "db current", "doctor", "jobs list", "jobs show 1", "jobs status", "jobs storage",
        "sources list", "sources check", "pdp check page.html", "search shoes", "changes list", "warcs list",
    ),
    0,
) | {
    "jobs validate 1": 1, "diff 1 2": 1, "snapshots show 1": 1, "snapshots cat 1": 1,
    "warcs verify page.html": 6, "warcs cat page.html 0": 6, "warcs cdxj page.html": 6,
}  # fmt: skip
# Those that change something, write a file, or are put on record.
CHANGING = {
    "artifacts adopt", "changes compute", "cleanup", "crawl pdp", "crawl site", "db upgrade", "db backup",
    "db restore", "demo", "domains release", "exceptions resolve", "export", "hauls create", "notify",
    "jobs consolidate", "jobs crawl", "jobs create", "jobs index", "jobs cleanup", "jobs patch",
    "jobs register", "jobs reset-retries", "jobs retry", "jobs run", "prices refresh", "purge",
    "retention set", "retention hold", "retention unhold", "runs stop", "runs resume", "serve",
    "sessions retry", "sessions report", "snapshots export", "snapshots index", "snapshots rebuild",
    "sources seed", "warcs erase", "warcs recover", "worker",
}  # fmt: skip


@pytest.fixture
def filled(database: Database, tmp_path: Path) -> Database:
    """One of everything; a session and a run whose processes are gone, and a file that is past its date."""
    session = rows.a_session(id=SESSION, status="running", finished_at=None, alive_until=THEN + HOUR)
    run = rows.a_run(id=1)
    with database.write() as db:
        for row in (
            session,
            rows.a_page(SESSION),
            rows.an_artifact(
                SESSION, id=ARTIFACT, storage_uri="a.gz", checksum=KEPT.checksum,
                content_sha256=KEPT.content_sha256, size_bytes=len(KEPT.data), retention_until=THEN,
            ),
            rows.a_line(SESSION, "session.start"),
            rows.a_listing(id=LISTING),
            rows.a_price(LISTING, "19.90"),
            run,
            RunWorker(run_id=1, owner="gone", alive_until=THEN + HOUR),
            rows.a_task(
                1, "https://shop.example/1", status="in_progress", lease_owner="gone",
                lease_expires_at=THEN + HOUR, lease_deadline_at=THEN + HOUR,
            ),
            rows.an_exception(1, "HTTP 500"),
            rows.an_asset(1, "a", id=1),
            rows.a_version(1, 1, {"a": 1}),
            rows.a_sighting(1, 1, "new"),
            rows.a_haul("spring", ("https://shop.example/", SESSION)),
            rows.a_job(id=1, status="running"),
            rows.a_step(
                1, status="in_progress", lease_owner="gone", lease_expires_at=THEN + HOUR,
                lease_deadline_at=THEN + HOUR,
            ),
            rows.a_hold(domain="shop.example", until=THEN + HOUR),
        ):  # fmt: skip
            db.add(row)
            db.flush()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a.gz").write_bytes(KEPT.data)
    adopt_store(database, FolderStore(tmp_path / "kept"))
    return database


@contextmanager
def read_only(database: Database) -> Generator[None]:
    """Let nobody who connects write; of SQLite, which knows no such thing, the contents are compared."""
    if database.is_sqlite:
        yield
        return
    setting = f'ALTER DATABASE "{database.url.database}" {{}} default_transaction_read_only'
    with database.write() as db:
        db.execute(text(setting.format("SET") + " = on"))
    try:
        yield
    finally:
        database.close()
        with database.engine.connect() as connection:
            connection.execute(text("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"))
            connection.commit()
            connection.execute(text(setting.format("RESET")))
            connection.commit()
        database.close()


def commands() -> Iterator[str]:
    """All that there are, as they are typed."""
    for name, command in get_command(complete_app()).commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", {"": command})
        yield from (f"{name} {word}".strip() for word in inner)


def test_of_every_command_it_is_known_whether_it_asks() -> None:
    """A new one is put among those that ask, and so is held to it, or among those that change something."""
    asking = {name for name in commands() if any(f"{line} ".startswith(f"{name} ") for line in ASKING)}
    assert asking | CHANGING == set(commands())
    assert asking & CHANGING == {"cleanup", "notify"}  # a dry run asks


def test_asking_changes_nothing(
    vitrine: Vitrine, filled: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even what stands for a process that is gone: the database may be one that nobody may write to."""
    Path("sources.toml").write_text(
        '[sources.shop]\nstart_urls = ["https://shop.example/"]\n', encoding="utf-8"
    )
    Path("page.html").write_text("<html></html>", encoding="utf-8")
    where = {"DATABASE_URL": database_url, "ARTIFACTS_DIR": "kept", "TOOL_CMD": "true"}
    before, files = contents_of(filled), sorted(Path("kept").rglob("*"))
    with read_only(filled), monkeypatch.context() as patched:
        patched.setattr(Database, "write", None)
        ended = {line: vitrine(*line.split(), **where) for line in ASKING}
    assert {line: done.code for line, done in ended.items()} == ASKING
    assert contents_of(filled) == before
    assert sorted(Path("kept").rglob("*")) == files


def test_who_only_asks_is_told_of_the_gone(vitrine: Vitrine, filled: Database, database_url: str) -> None:
    """The session still stands as running; it is said that nobody is at it."""
    done = vitrine("sessions", "list", DATABASE_URL=database_url)
    assert "! running, but no process is at it" in done.out
    [session] = vitrine("sessions", "list", "--json").document["sessions"]
    assert (session["status"], session["silent"]) == ("running", True)


def test_who_works_on_sessions_ends_the_gone(vitrine: Vitrine, filled: Database, database_url: str) -> None:
    """A cleanup does; a purge takes what a dead process was at."""
    where = {"DATABASE_URL": database_url, "ARTIFACTS_DIR": "kept"}
    vitrine("cleanup", "--only", "artifacts", **where)
    [session] = vitrine("sessions", "list", "--json").document["sessions"]
    assert (session["status"], session["cause"], session["silent"]) == ("failed", "abandoned", False)
    done = vitrine("purge", "--session", str(SESSION), "--yes")
    assert done.code == 0, done.err
    with filled.read() as db:
        assert db.get(CrawlSession, SESSION) is None
