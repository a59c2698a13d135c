"""`vitrine schedule`: lines that cron and systemd take as they are."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
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
    folder = tmp_path / "a 100% $odd o'clock folder"
    folder.mkdir()
    (folder / "scrapy.cfg").touch()  # a project of its own
    (folder / "sources.toml").write_text(SOURCES)
    monkeypatch.chdir(folder)
    return folder


def test_a_crontab(vitrine: Vitrine, odd_folder: Path) -> None:
    """The crawl at the source's own times, and the cleanup once; a percent sign would end the line."""
    done = vitrine("schedule", "acme", "ACME")
    folder = shlex.quote(str(odd_folder)).replace("%", r"\%")
    crawl = (
        "# crawl Acme & Co\n"
        f"30 2 * * mon  cd {folder} && {PROGRAM} -q crawl site --source acme --resume >/dev/null\n"
    )
    cleanup = (
        "# delete what is past its date\n"
        f"17 * * * *  cd {folder} && {PROGRAM} -q cleanup --max-seconds 600 >/dev/null\n"
    )
    assert done.out == crawl + cleanup
    assert vitrine("schedule").out == crawl + cleanup  # all that say when
    assert vitrine("schedule", "acme", "--no-cleanup").out == crawl


def units_of(out: str) -> dict[str, str]:
    """The units of a stream of them."""
    return dict(re.findall(r"# /etc/systemd/system/(\S+)\n(.*?)(?=\n# /etc|\Z)", out, re.DOTALL))


@pytest.mark.parametrize("more", [(), ("--archive", "--serve")])
@pytest.mark.usefixtures("odd_folder")
def test_units_are_valid(vitrine: Vitrine, tmp_path: Path, more: tuple[str, ...]) -> None:
    """Services and timers as systemd's own verification wants them; an archive needs a worker."""
    done = vitrine("schedule", "acme", "--for", "systemd", *more, VITRINE_HOME=f'{tmp_path}/a 5% "home"')
    units = units_of(done.out)
    lasting = {"vitrine-worker.service", "vitrine-serve.service"}
    assert units.keys() & lasting == (lasting if more else set())
    assert "OnCalendar=Mon *-*-* 02:30:00" in units["vitrine-acme.timer"]
    assert "100%% $odd o'clock folder\n" in units["vitrine-acme.service"]
    assert f'Environment="VITRINE_HOME={tmp_path}/a 5%% \\"home\\""\n' in units["vitrine-acme.service"]
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


@pytest.mark.usefixtures("odd_folder")
def test_units_are_written_one_by_one(vitrine: Vitrine, tmp_path: Path) -> None:
    """The same as are printed; what is there and says otherwise stays, with all the others, unless forced."""
    target = tmp_path / "units"
    asked = ("schedule", "acme", "--for", "systemd", "--user", "crawls", "--write", str(target))
    assert vitrine(*asked).code == 2
    target.mkdir()
    done = vitrine(*asked)
    written = {path.name: path.read_text() for path in target.iterdir()}
    assert done.out == "".join(f"{target / name}\n" for name in units_of(vitrine(*asked[:-2]).out))
    assert {str(target / name) for name in written} == set(done.out.splitlines())
    assert "User=crawls\n" in written["vitrine-acme.service"]
    assert (
        "systemctl daemon-reload && systemctl enable --now vitrine-acme.timer vitrine-cleanup.timer"
        in done.err
    )
    assert vitrine(*asked).code == 0  # nothing differs
    (target / "vitrine-acme.timer").write_text("mine")
    later = (*asked, "--at", "@daily")
    assert vitrine(*later).code == 5
    assert (target / "vitrine-acme.timer").read_text() == "mine"
    assert vitrine(*later, "--force").code == 0
    assert "OnCalendar=*-*-* 00:00:00" in (target / "vitrine-acme.timer").read_text()


@pytest.mark.usefixtures("odd_folder")
def test_what_the_shell_says_goes_along(vitrine: Vitrine, tmp_path: Path) -> None:
    """But for what `.env` says already, and for secrets, which are warned of by name."""
    Path(".env").write_text("HTML_RETENTION_DAYS=9\n", encoding="utf-8")
    done = vitrine(
        "schedule", "acme", "--no-cleanup", HTML_RETENTION_DAYS="9", VITRINE_HOME=str(tmp_path / "my home"),
        DATABASE_URL="postgresql://me:geheim@127.0.0.1/v", ADMIN_TOKEN="geheim" * 8,
    )  # fmt: skip
    assert f"&& VITRINE_HOME='{tmp_path}/my home' {PROGRAM} -q crawl" in done.out
    assert "geheim" not in done.out + done.err
    assert "RETENTION" not in done.out
    warned = [line.split()[1] for line in done.err.splitlines() if " is set in this shell only" in line]
    assert warned == ["ADMIN_TOKEN", "DATABASE_URL"]


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
        (("acme", "--write", "."), "are for units"),
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
    home = odd_folder / "a 100% home"
    assert vitrine("db", "upgrade", VITRINE_HOME=str(home)).code == 0
    line = vitrine("schedule", "acme").out.splitlines()[-1].partition("  ")[2].replace(r"\%", "%")
    done = subprocess.run(["env", "-i", "/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")  # which cron would mail
    with closing(sqlite3.connect(home / "vitrine.db")) as db:
        assert db.execute("SELECT count(*) FROM retention_results").fetchone()[0] > 0
