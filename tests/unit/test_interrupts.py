"""Ctrl-C while a program loads ends it at once, whatever it is just importing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawler import commands, interrupts

ROOT = Path(__file__).parents[2]
MOMENTS = 20
SCRAPY = str(Path(sys.executable).with_name("scrapy"))
VITRINE = str(Path(sys.executable).with_name("vitrine"))
PROGRAMS = {
    "vitrine": ([VITRINE, "sessions", "list"], "typer", 20, ""),
    "cleanup.py": ([sys.executable, "scripts/cleanup.py", "--help"], "typer", 35, ""),
    "reference.py": ([sys.executable, "scripts/reference.py", "--help"], "crawler.config", 10, ""),
    "scrapy": ([SCRAPY, "crawl", "nobody"], "crawler.config", 30, "interrupted: nothing was begun\n"),
}


@pytest.mark.soak(minutes=3)
@pytest.mark.parametrize("program", PROGRAMS)
def test_ctrl_c_at_any_moment_of_loading_is_a_line_at_most(tmp_path: Path, program: str) -> None:
    """Exit code 130 and no traceback, at every so manieth import of one start."""
    command, begin, every, line = PROGRAMS[program]
    (tmp_path / "ends").mkdir()
    (tmp_path / "sitecustomize.py").write_bytes((ROOT / "tests/unit/interrupted_start.py").read_bytes())
    environment = {
        **os.environ, "PYTHONPATH": str(tmp_path), "VITRINE_HOME": str(tmp_path),
        "INTERRUPT_FROM": begin, "INTERRUPT_EVERY": str(every), "INTERRUPT_INTO": str(tmp_path / "ends"),
    }  # fmt: skip
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    ends = {path.name: path.read_text() for path in sorted((tmp_path / "ends").iterdir())}
    assert len(ends) >= MOMENTS
    assert {name: said for name, said in ends.items() if not name.endswith(".130") or said != line} == {}


@pytest.mark.parametrize(
    ("words", "is_ours"),
    [(["crawl", "pdp"], True), (["--nolog", "shell"], True), (["sync", "crawl"], False), ([], False)],
)
def test_only_commands_that_say_when_they_are_loaded_end_at_once(
    monkeypatch: pytest.MonkeyPatch, words: list[str], *, is_ours: bool
) -> None:
    """Another project's own command keeps its way with Ctrl-C."""
    monkeypatch.setattr(sys, "argv", [SCRAPY, *words])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupts.end_scrapy_at_once()
        assert (signal.getsignal(signal.SIGINT) is not signal.default_int_handler) is is_ours
    finally:
        signal.signal(signal.SIGINT, before)


def test_each_of_these_commands_is_there() -> None:
    """By its module."""
    folder = Path(commands.__file__).parent
    found = {path.stem for path in folder.glob("[a-z]*.py")}
    assert found - {"added", "checked"} == interrupts.SCRAPYS_COMMANDS
