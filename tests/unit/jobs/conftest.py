"""Jobs of a shop, and a stub of the archive tool that misbehaves on order."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen

from crawler.config import Settings, load_settings
from crawler.db.models import Job
from crawler.jobs import orders, registry
from crawler.views import jobs as views
from tests.unit.jobs.test_registry import NOW, SHOP

if TYPE_CHECKING:
    from crawler.db.engine import Database
    from crawler.views.jobs import JobDocument

STUB = Path(__file__).parents[2] / "stubs" / "archive_tool.py"


@frozen
class Bench:
    """A database with the shop, settings for workers, and the stub's log."""

    database: Database
    settings: Settings
    log: Path
    monkeypatch: pytest.MonkeyPatch

    def order(self, **options: Any) -> int:
        """Make a job; its number."""
        with self.database.write() as db:
            registry.seed_sources(db, [SHOP], NOW)
            order = orders.JobOrder(options=options)
            return orders.create(db, self.settings, SHOP, order, now=db.now).id

    def plan(self, *words: str) -> None:
        """What the stub does from its first start on."""
        self.monkeypatch.setenv("STUB_PLAN", json.dumps(words))

    def shown(self, job_id: int) -> JobDocument:
        """A job as everybody sees it."""
        with self.database.read() as db:
            return views.shown(db, db.get_one(Job, job_id), db.now)

    def notes(self, word: str = "start") -> list[dict[str, Any]]:
        """What the stub did."""
        lines = self.log.read_text("utf-8").splitlines() if self.log.exists() else []
        return [said for line in lines if (said := json.loads(line))["word"] == word]


@pytest.fixture
def bench(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Everything lies in a folder of the test's."""
    monkeypatch.setenv("STUB_LOG", str(tmp_path / "stub.log"))
    settings = load_settings(
        {
            "ARCHIVE_ROOT": str(tmp_path / "archive"),
            "DATABASE_URL": database.url.render_as_string(hide_password=False),
            "TOOL_CMD": f"'{sys.executable}' '{STUB}'", "JOB_DISK_LIMIT_PERCENT": 100,
        }
    )  # fmt: skip
    return Bench(database, settings, tmp_path / "stub.log", monkeypatch)
