"""The commands: what they print, and with which code they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawler import logs
from crawler.cli.app import run
from crawler.db.engine import Database
from crawler.evidence.blobs import MARK
from tests.unit.retention.stored import CONTENT, DAY, PACKED, Evidence, new_evidence

if TYPE_CHECKING:
    from collections.abc import Generator

SIZE = len(PACKED.data)
CHECKOUT = Path(__file__).parents[3]
KEYS = [
    "candidates", "deleted", "failed", "reclaimed_bytes", "remaining", "dry_run", "artifacts",
    "unclaimed", "unclaimed_files", "collections_processed", "collections",
]  # fmt: skip


@pytest.fixture
def evidence(sqlite_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Evidence]:
    """The evidence that the settings of this folder name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scrapy.cfg").touch()  # a project of its own
    monkeypatch.setattr(logs, "configure", lambda *_: None)
    (tmp_path / ".env").write_text(f"DATABASE_URL={sqlite_database}\nARTIFACTS_DIR=kept\n", encoding="utf-8")
    database = Database(sqlite_database)
    yield new_evidence(database, tmp_path / "kept")
    database.close()


def printed(capsysbinary: pytest.CaptureFixture[bytes]) -> Any:
    """The JSON document on standard output."""
    return json.loads(capsysbinary.readouterr().out)


def test_settings_are_the_defaults(
    evidence: Evidence, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batch size and dry run come from the settings; the command line wins; ENABLED is not asked (B47-50)."""
    monkeypatch.setenv("RETENTION_CLEANUP_ENABLED", "false")
    monkeypatch.setenv("RETENTION_CLEANUP_DRY_RUN", "true")
    monkeypatch.setenv("RETENTION_CLEANUP_BATCH_SIZE", "2")
    for number in range(3):
        evidence.add(f"{number}/html.gz")
    assert run(["cleanup", "--json"]) == 0
    document = printed(capsysbinary)
    assert (document["dry_run"], document["candidates"], document["deleted"]) == (True, 2, 0)
    assert run(["cleanup", "--json", "--no-dry-run"]) == 0
    assert printed(capsysbinary)["deleted"] == 2


def test_codes_tell_how_much_was_done(evidence: Evidence) -> None:
    """All 0, some 3, none 1 (and nothing to do is 0)."""
    assert run(["cleanup"]) == 0
    evidence.add("../x", file=False)
    assert run(["cleanup"]) == 1
    evidence.add("../y", file=False)
    evidence.add("a/html.gz")
    assert run(["cleanup"]) == 3
    assert run(["cleanup"]) == 0


def test_store_that_is_away_is_an_error(evidence: Evidence, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing could be done: code 6, the reason and a hint."""
    evidence.add("a/html.gz", file=False)
    (evidence.root / MARK).unlink()
    evidence.root.rmdir()
    assert run(["cleanup"]) == 6
    error, hint = capfd.readouterr().err.splitlines()
    assert error.startswith(f"error[other_store]: {evidence.root} has no mark of a store")
    assert "mounted" in hint
    assert evidence.deleted() == set()


@pytest.mark.usefixtures("evidence")
def test_nothing_is_made_where_nothing_was(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A cleanup, or a look, in another folder than the right one says where it looked."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "scrapy.cfg").touch()
    monkeypatch.chdir(elsewhere)
    for line in (["cleanup"], ["cleanup", "--dry-run"], ["sessions", "list"], ["retention", "orphans"]):
        assert run(line) == 2
        error, hint = capfd.readouterr().err.splitlines()
        assert error == f"error[no_database]: there is no database at {elsewhere}/var/vitrine.db"
        assert "vitrine db upgrade" in hint
    assert [path.name for path in elsewhere.iterdir()] == ["scrapy.cfg"]


def test_script_is_what_cron_calls(evidence: Evidence) -> None:
    """It reads .env where it is started, prints one document, logs to standard error, and tells the truth."""
    evidence.add("a/html.gz")
    evidence.add("../x", file=False)
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "scripts" / "cleanup.py"), "--json"],
        capture_output=True, check=False, text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "LOG_LEVEL": "DEBUG"},
    )  # fmt: skip
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert list(document) == KEYS
    assert (document["deleted"], document["failed"]) == (1, 1)
    assert "retention_cleanup.batch deleted=1 failed=1 " in done.stderr
    assert "retention_cleanup.deleted artifact_id=" in done.stderr
    assert "Traceback" not in done.stderr


def test_verify_tells_damage(evidence: Evidence, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Code 6 and the damaged ones; code 0 when those that were named are well."""
    good = evidence.add("good.gz", age=-DAY)
    bad = evidence.add("bad.gz", age=-DAY)
    assert run(["artifacts", "verify", "--json"]) == 0
    assert printed(capsysbinary) == {
        "checked": 2, "intact": 2, "bytes": 2 * SIZE, "failed": [], "pages_checked": 0, "pages_failed": [],
    }  # fmt: skip
    (evidence.root / "bad.gz").write_bytes(b"x" * SIZE)
    assert run(["artifacts", "verify", "--json"]) == 6
    [failure] = printed(capsysbinary)["failed"]
    assert (failure["id"], failure["finding"]) == (str(bad), "checksum_differs")
    assert run(["artifacts", "verify", str(good)]) == 0
    assert capsysbinary.readouterr().out == b"1 artifacts, %d B: 1 intact, 0 not\n" % SIZE
    assert run(["artifacts", "verify", str(good), str(bad)]) == 6
    assert b"checksum_differs" in capsysbinary.readouterr().out


def test_cat_writes_the_bytes(evidence: Evidence, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """As they are stored, or decoded; of what was deleted, the day on which it went."""
    key = evidence.add("a.gz")
    assert run(["artifacts", "cat", str(key)]) == 0
    assert capsysbinary.readouterr().out == PACKED.data
    assert run(["artifacts", "cat", key.hex[:10], "--decode"]) == 0
    assert capsysbinary.readouterr().out == CONTENT
    assert run(["cleanup"]) == 0
    capsysbinary.readouterr()
    assert run(["artifacts", "cat", str(key)]) == 1
    shown = capsysbinary.readouterr()
    assert shown.out == b""
    assert shown.err.startswith(b"error[body_gone]: artifact %s was deleted at " % str(key).encode())


def test_orphans_are_reported_and_removed(
    evidence: Evidence, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Only looked at without the flags; code 6 while a row misses its file."""
    evidence.write("stray.gz")
    lost = evidence.add("lost.gz", file=False, age=-DAY)
    assert run(["retention", "orphans", "--json"]) == 6
    document = printed(capsysbinary)
    assert document["files"] == []  # it is young
    assert [row["id"] for row in document["rows"]] == [str(lost)]
    assert run(["retention", "orphans", "--grace-hours", "0"]) == 6
    shown = capsysbinary.readouterr().out.decode()
    assert "stray.gz" in shown
    assert str(lost) in shown
    assert evidence.files() == {"stray.gz"}
    assert run(["retention", "orphans", "--grace-hours", "0", "--delete", "--mark-missing", "--json"]) == 0
    document = printed(capsysbinary)
    assert (document["removed"], document["removed_bytes"], document["marked"]) == (1, SIZE, 1)
    assert evidence.files() == set()
    assert evidence.deleted() == {lost}


def test_cleanup_prints_its_figures(evidence: Evidence, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """A line that scripts look for, or with --json one document, and nothing else on standard output."""
    for number in range(3):
        evidence.add(f"{number}/html.gz")
    assert run(["cleanup", "--batch-size", "1"]) == 0
    line = f"Cleanup complete: deleted=1, failed=0, reclaimed_bytes={SIZE} (0.00 MB)\n"
    assert capsysbinary.readouterr().out.decode() == line
    assert run(["cleanup", "--json", "--batch-size", "1"]) == 0
    document = printed(capsysbinary)
    assert list(document) == KEYS
    assert (document["candidates"], document["deleted"], document["remaining"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "variables", "code"),
    [
        (["--batch-size", "0"], {}, "usage"),
        (["--only", "listings"], {}, "usage"),
        (["--max-seconds", "-1"], {}, "usage"),
        ([], {"RETENTION_CLEANUP_BATCH_SIZE": "many"}, "config"),
        ([], {"ARTIFACTS_DIR": "s3://"}, "config"),
    ],
)
@pytest.mark.usefixtures("evidence")
def test_bad_configuration_is_two_lines(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    variables: dict[str, str],
    code: str,
) -> None:
    """What is wrong, a hint, and code 2."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(["cleanup", *arguments]) == 2
    error, hint = capfd.readouterr().err.splitlines()
    assert (error.partition(":")[0], hint.partition(":")[0]) == (f"error[{code}]", "hint")
