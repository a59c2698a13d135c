"""`vitrine doctor` says what works here, what is absent, and what would mend or add it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    import redis

    from tests.unit.cli.conftest import Done, Vitrine


def findings(done: Done) -> dict[str, dict[str, Any]]:
    """What was found, by the check's name; of several the last."""
    return {finding["check"]: finding for finding in done.document["findings"]}


def asked(vitrine: Vitrine, **environment: str) -> Done:
    """What it says where the archive tool is no matter, which takes a while to start."""
    return vitrine("doctor", "--json", **{"TOOL_CMD": "true", **environment})


def test_an_empty_machine_is_well(vitrine: Vitrine, tmp_path: Path) -> None:
    """Everything works embedded; what is absent says what it would add; looking leaves nothing behind."""
    done = asked(vitrine)
    found = findings(done)
    assert (done.code, done.document["ok"]) == (0, True)
    assert {name: finding["state"] for name, finding in found.items() if name != "browser"} == {
        "python": "ok",
        "settings": "absent",
        "database": "ok",
        "sqlite": "ok",
        "redis": "absent",
        "artifacts": "ok",
        "archive": "ok",
        "tool": "ok",
        "contact": "warning",
    }
    assert sys.executable in found["python"]["what"]
    assert found["database"]["what"] == "sqlite:///var/vitrine.db will be made by the first crawl"
    assert "REDIS_URL=redis://" in found["redis"]["fix"]
    assert "CONTACT_URL" in found["contact"]["fix"]
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["scrapy.cfg"]


def test_broken_servers_are_told_with_their_fix(vitrine: Vitrine) -> None:
    """All of them, each in a line; no password is shown, not even among the settings; exit code 1."""
    done = asked(
        vitrine,
        DATABASE_URL="postgresql://u:geheim@127.0.0.1:1/v",
        REDIS_URL="redis://:geheim@127.0.0.1:1/0",
    )
    found = findings(done)
    assert (done.code, done.document["ok"]) == (1, False)
    assert (found["database"]["state"], found["redis"]["state"]) == ("broken", "broken")
    assert "DATABASE_URL" in found["database"]["fix"]
    assert "REDIS_URL" in found["redis"]["fix"]
    assert done.document["settings"]["REDIS_URL"] == "redis://:***@127.0.0.1:1/0"
    assert "geheim" not in done.out + done.err


def test_an_archive_that_cannot_be_made_is_told(vitrine: Vitrine, tmp_path: Path) -> None:
    """Its root cannot be written, its tool is missing or fails, Docker is away and wanted."""
    (tmp_path / "file").touch()
    (tmp_path / "sources.toml").write_text(
        '[sources.a]\nengine = "zimit"\nstart_urls = ["https://a.example/"]\n', encoding="utf-8"
    )
    root = str(tmp_path / "file" / "archive")
    found: dict[str, dict[str, Any]] = {}
    for command in ("/nowhere/tool", f"'{sys.executable}' -c 1/0"):
        found = findings(asked(vitrine, ARCHIVE_ROOT=root, TOOL_CMD=command, PATH="/nowhere"))
        states = [found[name]["state"] for name in ("archive", "tool", "docker")]
        assert states == ["broken", "broken", "broken"]
    assert str(tmp_path / "file") in found["archive"]["what"]
    assert "TOOL_CMD" in found["tool"]["fix"]


def test_working_servers_are_told_with_their_clocks(
    vitrine: Vitrine, postgres_database: str, redis_url: str
) -> None:
    """Version, revision, and how far their clocks are from ours."""
    done = asked(vitrine, DATABASE_URL=postgres_database, REDIS_URL=redis_url)
    found = findings(done)
    assert done.code == 0
    assert found["redis"]["state"] == found["database"]["state"] == found["clock"]["state"] == "ok"
    assert "revision" in found["database"]["what"]
    assert "version" in found["redis"]["what"]


def test_a_redis_that_takes_no_lock_is_broken(
    vitrine: Vitrine, redis_database: str, redis_client: redis.Redis
) -> None:
    """It answers, and is full: no session would start."""
    redis_client.config_set("maxmemory", 1)
    try:
        done = asked(vitrine, REDIS_URL=redis_database)
    finally:
        redis_client.config_set("maxmemory", 0)
    found = findings(done)["redis"]
    assert (done.code, found["state"], "refuses: " in found["what"]) == (1, "broken", True), found


def test_a_server_without_tables_is_broken(vitrine: Vitrine, postgres_url: str) -> None:
    """The fix is the command that makes them."""
    done = asked(vitrine, DATABASE_URL=postgres_url)
    found = findings(done)
    assert done.code == 1
    assert (found["database"]["state"], found["database"]["fix"]) == ("broken", "vitrine db upgrade")


def test_a_damaged_database_is_told_and_not_upgraded(vitrine: Vitrine, tmp_path: Path) -> None:
    """Exit code 6 of whoever would have written into it."""
    vitrine("db", "upgrade")
    path = tmp_path / "var" / "vitrine.db"
    content = bytearray(path.read_bytes())
    content[-4096:] = b"\xa5" * 4096
    path.write_bytes(content)
    done = asked(vitrine)
    told = [each for each in done.document["findings"] if each["check"] == "database"]
    assert (done.code, told[-1]["state"]) == (1, "broken")
    assert "is damaged" in told[-1]["what"]
    upgraded = vitrine("db", "upgrade")
    assert upgraded.code == 6
    assert upgraded.err.startswith("error[integrity]: the database ")


def test_the_file_that_is_read_is_named(
    vitrine: Vitrine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the project's; one in the folder where somebody stands is told to be nobody's."""
    (tmp_path / ".env").write_text("CONTACT_URL=https://me.example/\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / ".env").write_text("CONTACT_URL=https://other.example/\n")
    monkeypatch.chdir(inner)
    done = asked(vitrine)
    found = [each for each in done.document["findings"] if each["check"] == "settings"]
    said = [(each["state"], each["what"]) for each in found]
    assert said == [
        ("ok", f"{tmp_path}/.env is read; the environment wins over it"),
        ("warning", f"{inner}/.env is not read"),
    ]
    [line] = done.err.splitlines()
    assert "setting.file_not_read" in line
    assert str(inner) in line
