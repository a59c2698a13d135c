"""The archive tool as a process: its modes, what it does about a standstill, its exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from crawler.engines.statistics import end_of
from tests.unit.engines.test_process import ROOT, alive
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.engines.statistics import ToolEnd

DOCKER = ROOT / "tests" / "stubs" / "docker.py"
WATCHED = ("--enable-monitoring", "--stall-timeout-minutes", "0.01", "--backoff-delay-minutes", "0")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A docker of ours on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "docker").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{DOCKER}" "$@"\n', encoding="utf-8")
    (folder / "docker").chmod(0o755)
    return {
        **os.environ, "PATH": f"{folder}:{os.environ['PATH']}",
        "STUB_DOCKER_LOG": str(tmp_path / "docker.log"),
        "VITRINE_ENGINE": "zimit", "VITRINE_JOB": "7", "VITRINE_EPOCH": "3",
    }  # fmt: skip


def command(tmp_path: Path, *more: str) -> list[str]:
    """The tool's command line."""
    line = [sys.executable, "-m", "crawler.engines", "--seeds", "https://shop.example/a,b", "--name", "shop"]
    return [*line, "--output-dir", str(tmp_path / "out"), *more]


def run(tmp_path: Path, environment: dict[str, str], *more: str) -> tuple[int, str, ToolEnd | None]:
    """The tool's exit code, what it said, and its last word."""
    done = subprocess.run(
        command(tmp_path, *more), env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )
    ends = [end for line in done.stdout.splitlines() if (end := end_of(line))]
    return done.returncode, done.stdout + done.stderr, ends[-1] if ends else None


def docker(tmp_path: Path) -> list[list[str]]:
    """What Docker was told."""
    return [json.loads(line) for line in (tmp_path / "docker.log").read_text("utf-8").splitlines()]


def test_a_container_of_our_own(tmp_path: Path, environment: dict[str, str]) -> None:
    """Older ones go first; a seed's comma is no separator; WARCs are kept; there is a ZIM at the end."""
    environment["STUB_DOCKER_CONTAINERS"] = "vitrine-job-7-2-1\nvitrine-job-77-1-1\n"
    code, said, end = run(tmp_path, environment, "--", "--lang", "fr")
    assert (code, end and end.stage) == (0, "completed"), said
    assert end is not None
    assert end.zim == str(tmp_path / "out" / "shop.zim")
    words = docker(tmp_path)
    assert [line[:3] for line in words if line[0] == "rm"] == [["rm", "-f", "vitrine-job-7-2-1"]]
    [started] = [line for line in words if line[0] == "run"]
    assert started == [
        "run", "--rm", "--name", "vitrine-job-7-3-1", "-v", f"{tmp_path / 'out'}:/output",
        "ghcr.io/openzim/zimit", "zimit", "--seeds", "https://shop.example/a%2Cb", "--name", "shop",
        "--workers", "1", "--keep", "--output", "/output", "--lang", "fr",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("engine", "code", "stage"),
    [("14", 0, "limit_hit"), ("3", 75, "infrastructure"), ("9", 1, "failed")],
)
def test_the_engines_codes_and_ours(
    tmp_path: Path, environment: dict[str, str], engine: str, code: int, stage: str
) -> None:
    """Limits that were asked for are success, disks are infrastructure, the rest failure."""
    found, said, end = run(tmp_path, {**environment, "STUB_DOCKER": engine})
    assert (found, end and end.stage) == (code, stage), said
    assert f'"engine_exit": {engine},' in said


def test_what_is_there_already_is_not_made_again(tmp_path: Path, environment: dict[str, str]) -> None:
    """SPEC 152: exit 1; with --overwrite everything begins anew."""
    assert run(tmp_path, environment)[0] == 0
    code, _, end = run(tmp_path, environment)
    assert (code, end and end.stage) == (1, "exists")
    assert run(tmp_path, environment, "--overwrite")[0] == 0


def test_a_crawl_is_gone_on_with_and_all_of_it_becomes_one_file(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """The first attempt fails; the second finds its configuration, and the WARCs of both become one ZIM."""
    assert run(tmp_path, {**environment, "STUB_DOCKER": "9"})[0] == 1
    (tmp_path / "out" / ".tmpempty").mkdir()  # the newest one has nothing to go on with
    code, said, _ = run(tmp_path, environment)
    assert code == 0, said
    runs = [line for line in docker(tmp_path) if line[0] == "run"]
    assert ["--config" in line for line in runs] == [False, True, False]
    assert "/output/.zimit_resume.yaml" in runs[1]
    assert runs[2][8:10] == [
        "--warcs",
        "/output/.tmp0/collections/crawl-1/archive/a.warc.gz,/output/.tmp2/collections/crawl-1/archive/a.warc.gz",
    ]


def test_wrong_arguments(tmp_path: Path, environment: dict[str, str]) -> None:
    """Exit 2 and one line; nothing is made."""
    code, said, end = run(tmp_path, environment, "--", "--output", "/etc")
    assert (code, end, said.startswith("error[tool_option]: ")) == (2, None, True), said
    assert not (tmp_path / "out").exists()


def test_our_own_engine_needs_no_tool(tmp_path: Path, environment: dict[str, str]) -> None:
    """A TOOL_CMD that names this tool fails its jobs at once, and says why."""
    code, said, _ = run(tmp_path, {**environment, "VITRINE_ENGINE": "vitrine"})
    assert (code, said.startswith("error[tool_option]: "), "TOOL_CMD" in said) == (2, True, True), said
    assert not (tmp_path / "out").exists()


def silent(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A docker that runs for ever and says nothing; each start is one line."""
    script = '#!/bin/sh\ncase "$1" in run) echo "$$ $*" >> "$STUB_RUNS"; exec sleep 600;; esac\n'
    (tmp_path / "bin" / "docker").write_text(script, encoding="utf-8")
    return {**environment, "STUB_RUNS": str(tmp_path / "runs")}


def test_a_silent_engine_stands_still(tmp_path: Path, environment: dict[str, str]) -> None:
    """It is stopped, adapted, and at last given up; no shell reads what was said."""
    trap = tmp_path / "pwned"
    vpn = f"{sys.executable} -c pass; $(touch {trap})"
    adaptive = ("--enable-adaptive-workers", "--initial-workers", "4", "--max-worker-reductions", "1")
    rotating = ("--enable-vpn-rotation", "--vpn-connect-command", vpn, "--max-vpn-rotations", "1")
    code, said, end = run(tmp_path, silent(environment, tmp_path), *WATCHED, *adaptive, *rotating)
    assert (code, end and end.stage) == (1, "stalled"), said
    why = "gives up: 5 restarts brought no page that was not captured before"
    words = ["goes on with 2 workers", "changes its way out", "the way out was changed", "rests", why]
    assert [word for word in words if word not in said] == []
    starts = (tmp_path / "runs").read_text("utf-8").splitlines()
    assert [line.split("--workers ")[1][0] for line in starts] == ["4", "2", "2", "2", "2", "2"]
    assert not trap.exists()
    state = json.loads((tmp_path / "out" / ".archive_state.json").read_text("utf-8"))["adaptation"]
    assert (state["workers"], state["reductions"], state["rotations"]) == (2, 1, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_engine_ends_with_the_tool(
    tmp_path: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    """Asked to end, the tool says that it was interrupted; killed, it says nothing."""
    tool = subprocess.Popen(
        command(tmp_path), env=silent(environment, tmp_path), stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    runs = tmp_path / "runs"
    pid = int(wait_for(lambda: runs.exists() and runs.read_text("utf-8")).split()[0])
    tool.send_signal(number)
    said, _ = tool.communicate(timeout=60)
    wait_for(lambda: not alive(pid))
    if number != signal.SIGKILL:
        assert (tool.returncode, '"interrupted"' in said) == (130, True), said


def test_permissions_are_relaxed_for_our_own_files(tmp_path: Path, environment: dict[str, str]) -> None:
    """Readable for others, and no link is followed."""
    secret = tmp_path / "secret"
    secret.touch(0o600)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(secret)
    assert run(tmp_path, environment, "--relax-perms")[0] == 0
    modes = {
        path.name: path.stat().st_mode & 0o777
        for path in (tmp_path / "out").rglob("*")
        if not path.is_symlink()
    }
    assert all(mode & 0o044 == 0o044 for mode in modes.values()), modes
    assert secret.stat().st_mode & 0o777 == 0o600
