"""`vitrine schedule`: lines that cron and systemd take as they are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine

SOURCES = """
[sources.acme]
name = "Acme & Co"
start_urls = ["https://acme.example/"]
allowed_domains = ["acme.example"]
schedule = "30 2 * * mon"

[sources.bare]
name = "Bare"
start_urls = ["https://bare.example/"]
allowed_domains = ["bare.example"]
"""
PROGRAM = Path(sys.executable).parent / "vitrine"


@pytest.fixture
def odd_folder(vitrine: Vitrine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources in a folder whose name neither a shell nor cron nor systemd takes as it is."""
    folder = tmp_path / "a 100% folder"
    folder.mkdir()
    (folder / "scrapy.cfg").touch()  # a project of its own
    (folder / "sources.toml").write_text(SOURCES)
    monkeypatch.chdir(folder)
    return folder


def test_a_crontab(vitrine: Vitrine, odd_folder: Path) -> None:
    """The crawl at the source's own times, and the cleanup; a percent sign would end the line."""
    done = vitrine("schedule", "acme")
    folder = f"'{odd_folder}'".replace("%", r"\%")
    assert done.out == (
        "# crawl Acme & Co\n"
        f"30 2 * * mon  cd {folder} && {PROGRAM} crawl site --source acme --resume\n"
        "# delete what is past its date\n"
        f"17 * * * *  cd {folder} && {PROGRAM} cleanup --max-seconds 600\n"
    )


@pytest.mark.parametrize("archive", [(), ("--archive",)])
@pytest.mark.usefixtures("odd_folder")
def test_units_are_valid(vitrine: Vitrine, tmp_path: Path, archive: tuple[str, ...]) -> None:
    """Services and timers as systemd's own verification wants them; an archive needs a worker."""
    done = vitrine("schedule", "acme", "--for", "systemd", *archive)
    units = dict(re.findall(r"# /etc/systemd/system/(\S+)\n(.*?)(?=\n# /etc|\Z)", done.out, re.DOTALL))
    assert ("vitrine-worker.service" in units) == bool(archive)
    assert "OnCalendar=Mon *-*-* 02:30:00" in units["vitrine-acme.timer"]
    assert "100%% folder" in units["vitrine-acme.service"]
    assert "KillMode=mixed\n" in units["vitrine-acme.service"]
    if not shutil.which("systemd-analyze"):
        return
    for name, text in units.items():
        (tmp_path / name).write_text(text)
    verified = subprocess.run(
        ["systemd-analyze", "verify", *(tmp_path / name for name in units)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    ours = [line for line in verified.stderr.splitlines() if "vitrine" in line]
    assert ours == []


def test_a_program_is_told(vitrine: Vitrine, odd_folder: Path) -> None:
    """Commands as words, times in both spellings."""
    told = json.loads(vitrine("schedule", "BARE", "--at", "@daily", "--archive", "--json").out)
    assert (told["source"], told["folder"]) == ("bare", str(odd_folder))
    assert told["commands"][0] == {
        "name": "vitrine-bare",
        "command": [str(PROGRAM), "jobs", "create", "--source", "bare"],
        "cron": "0 0 * * *",
        "on_calendar": "*-*-* 00:00:00",
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("bare",), "bare says no schedule"),
        (("bare", "--at", "0 25 * * *"), "'25' is no hour"),
        (("nobody",), "has no source 'nobody'"),
    ],
)
@pytest.mark.usefixtures("odd_folder")
def test_what_cannot_be_scheduled(vitrine: Vitrine, words: tuple[str, ...], why: str) -> None:
    """One line that says why, and how it would do."""
    done = vitrine("schedule", *words)
    assert (done.code, done.out) == (2, "")
    assert why in done.err


def test_the_lines_run_with_nothing_but_a_shell(vitrine: Vitrine, odd_folder: Path) -> None:
    """As cron calls them: no environment, and a percent sign that was escaped for it."""
    line = vitrine("schedule", "acme").out.splitlines()[-1].partition("  ")[2].replace(r"\%", "%")
    home = odd_folder / "home"
    (odd_folder / ".env").write_text(f"VITRINE_HOME={home}\n")
    made = subprocess.run(
        ["env", "-i", str(PROGRAM), "db", "upgrade"],
        cwd=odd_folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    done = subprocess.run(["env", "-i", "/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
