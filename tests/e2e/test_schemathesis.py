"""The API, asked by schemathesis as a command: no question is an error, and answers are what is described."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.conftest import TOKEN, serving_on

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.unit.web.conftest import Served

COMMAND = Path(sys.executable).with_name("schemathesis")
VISITS = "/api/snapshots/{snapshot_id}/compare-live"  # it has a site visited
CHECKS = "not_a_server_error,response_schema_conformance"


@pytest.fixture
def filled(database_url: str, redis_database: str, tmp_path: Path) -> Generator[Served]:
    """A server with a page in its archive and a queue for visits, once on each kind of database."""
    with serving_on(database_url, tmp_path / "home") as start:
        served = start(admin_token=TOKEN, redis_url=redis_database)
        keep(served.database, served.blobs, "<title>A chair</title><main><p>Beech.</p></main>")
        index_pages(served.database, served.blobs)
        yield served


def ask(served: Served, examples: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Ask every operation that is described so many things."""
    return subprocess.run(
        [COMMAND, "run", f"{served.address}/api/openapi.json", "--checks", CHECKS, "-n", str(examples),
         "--request-timeout", "120",  # whatever else the machine has to do
         "--exclude-path", VISITS, "--generation-deterministic", "-H", f"X-Admin-Token: {TOKEN}", *options],
        capture_output=True, text=True, check=False, timeout=3_000,
        cwd=served.stores.settings.vitrine_home.parent,
    )  # fmt: skip


@pytest.mark.soak(minutes=60)
def test_no_question_of_many_is_an_error(filled: Served) -> None:
    """Five hundred of each operation, and every case at the bounds of its parameters."""
    done = ask(filled, 500, "--phases", "coverage,fuzzing")
    assert done.returncode == 0, done.stdout[-6_000:]
