"""The handbook explains what the log says from a warning up, and says of which lines no test runs them."""

from __future__ import annotations

import re
from pathlib import Path

from tests.e2e.handbook import blocks

ROOT = Path(__file__).parents[2]
HANDBOOK = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
SECTION = HANDBOOK.partition("## What the log says\n")[2].partition("\n## ")[0]
# By the session's log too, whose levels have shorter names.
LOGGED = re.compile(
    r"\b(?:log|logger)\.(?:warning|error|exception)\(\s*\"([a-z_]+(?:\.[a-z_]+)+)\""
    r"|\bjournal\.(?:warn|error)\(\s*\"\w+\",\s*\"([a-z_.]+)\""
)


def said() -> set[str]:
    """The names of all such events in the code."""
    files = (ROOT / "crawler").rglob("*.py")
    found = [pair for file in files for pair in LOGGED.findall(file.read_text(encoding="utf-8"))]
    return {first or second for first, second in found}


def test_each_event_from_a_warning_up_is_explained() -> None:
    """On the handbook's page, or on one that its section links."""
    linked = set(re.findall(r"\]\(([\w-]+\.md)", SECTION))
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in linked]
    explained = set(re.findall(r"`([a-z_.]+)`", SECTION + "".join(pages)))
    assert len(said()) > 50
    assert said() - explained == set()


def test_no_event_is_explained_that_is_not() -> None:
    """What was renamed or cut is not waited for."""
    rows = re.findall(r"^\| (`[^|]+`) \|", SECTION, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([a-z_.]+)`", row)}
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "crawler").rglob("*.py"))
    assert {name for name in named if f'"{name}"' not in source} == set()


# By section: which of its blocks tests/e2e/test_handbook.py and test_backup.py run.
RUN_BY_TESTS = {
    "The first half hour": {1, 2, 3}, "By the clock": {0}, "Being told": {0}, "Backup and restore": {0, 1, 3},
    "Upgrading": {0},
}  # fmt: skip


def test_each_block_is_run_or_says_that_it_is_not() -> None:
    """Nobody types what was never tried without knowing it."""
    for heading, found in blocks():
        untried = {number for number, each in enumerate(found) if "not run by a test" in each.said}
        assert set(range(len(found))) - untried == RUN_BY_TESTS.get(heading, set()), heading
