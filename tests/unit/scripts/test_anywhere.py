"""Programs run from any folder, by the path of the interpreter alone, and so does the line for cron."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CRON = re.compile(r"^\d+ [*] [*] [*] [*]  (.*)$", re.MULTILINE)


def ran(*command: str) -> subprocess.CompletedProcess[str]:
    """Run it as cron would: no variable, and a folder that is nobody's."""
    return subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, check=False, timeout=120)


def test_the_cleanup_runs_from_any_folder() -> None:
    """It finds what it imports."""
    done = ran(sys.executable, str(ROOT / "scripts" / "cleanup.py"), "--help")
    assert done.returncode == 0, done.stderr


def test_there_is_one_line_for_cron_and_it_works() -> None:
    """The same on every page; with an empty environment it looks into the clone."""
    lines = {line for page in PAGES for line in CRON.findall(page.read_text(encoding="utf-8"))}
    [line] = lines
    program, *words, quiet = line.split()
    assert (program, quiet) == ("/srv/vitrine/.venv/bin/vitrine", ">/dev/null")
    done = ran(str(Path(sys.executable).with_name("vitrine")), *words, "--dry-run")
    place = ROOT / "var" / "vitrine.db"
    if place.exists():
        assert done.returncode == 0, done.stderr
    else:
        assert done.stderr.startswith(f"error[no_database]: there is no database at {place}\n")
