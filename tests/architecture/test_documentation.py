"""The documentation says what the code says, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from bench.__main__ import names_of
from crawler.capture.failures import Cause
from crawler.crawl import context
from crawler.errors import ExitCode
from crawler.middlewares import navigation, proxy, saved_pages
from crawler.rendering import playwright_requests
from crawler.sessions.rows import CHOICES
from crawler.spiders import pdp
from crawler.spiders.orders import KNOWN
from scripts.reference import PAGES as GENERATED
from scripts.reference import ROOT, expected

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")
PLACE = re.compile(r"\]\(([^):\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
SPIDERS = (ROOT / "docs" / "spiders.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [".env.example", *(f"docs/{page}" for page in GENERATED)])
def test_tables_are_those_of_the_code(name: str) -> None:
    """Settings, commands and error codes are documented as they are; `make reference` writes them anew."""
    path = ROOT / name
    assert path.read_text(encoding="utf-8") == expected()[path], "run `make reference`"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    """A page that is named is there."""
    targets = LINK.findall(path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_to_headings(path: Path) -> None:
    """A place in a page that is named is there, too."""
    lost = []
    for page, place in PLACE.findall(path.read_text(encoding="utf-8")):
        text = (path.parent / page if page else path).read_text(encoding="utf-8")
        if place not in {_place(heading) for heading in HEADING.findall(text)}:
            lost.append(f"{page}#{place}")
    assert lost == []


def _place(heading: str) -> str:
    """The name by which a heading is linked to."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_figures_stand_in_one_page() -> None:
    """With every benchmark by its name; other pages lead there."""
    figures = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    benches = set(re.findall(r"^\| `(\w+)` \|", figures, re.MULTILINE))
    assert benches == set(names_of(ROOT / "bench"))
    elsewhere = [path for path in PAGES if path.parent.name == "docs" and path.name != "figures.md"]
    assert [path.name for path in elsewhere if "python -m bench" in path.read_text(encoding="utf-8")] == []


def test_every_page_can_be_found() -> None:
    """The README leads to each page of the documentation."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [path for path in PAGES if path.parent.name == "docs"]
    assert [path.name for path in pages if f"docs/{path.name}" not in readme] == []


def test_the_map_has_the_layers_that_are_checked() -> None:
    """Who may import whom is drawn as `make lint` sees it, and every part of the package has its row."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [layers] = [c["layers"] for c in project["tool"]["importlinter"]["contracts"] if c["id"] == "layers"]
    assert "```\n" + "\n".join(layers) + "\n```" in MAP
    parts = {part for layer in layers for part in layer.split(" | ")}
    rows = " ".join(re.findall(r"^\| (`.+?) \|", MAP, re.MULTILINE))
    assert [part for part in parts if f"`{part}/`" not in rows and f"`{part}.py`" not in rows] == []


def test_the_projects_metadata_is_as_todays_tools_want_it() -> None:
    """Nothing of it is deprecated, which would be a build that fails one day."""
    program = (
        "from setuptools import Distribution; from setuptools.config import pyprojecttoml; "
        "made = Distribution(); pyprojecttoml.apply_configuration(made, 'pyproject.toml'); "
        "print(made.metadata.license_expression)"
    )
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("MIT", "")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_modules_that_are_named_are_there(path: Path) -> None:
    """A page that leads to a file of the package does not lead astray."""
    named = re.findall(r"`((?:crawler|scripts|bench|tests)/[\w/.]+)`", path.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_spider_arguments_are_documented() -> None:
    """Each one that `-a` takes has its line, with its choices."""
    lines = dict(re.findall(r"^\| `(\w+)=(\S+)` \|", COMMANDS, re.MULTILINE))
    assert set(lines) == set(KNOWN)
    assert {name: tuple(lines[name].split("\\|")) for name in CHOICES} == CHOICES


def test_exit_codes_are_documented() -> None:
    """Each one that a command may end with has its line, and no other has."""
    rows = re.findall(r"^\| (\d+) \|", COMMANDS, re.MULTILINE)
    assert {int(row) for row in rows} == set(ExitCode)


def test_meta_keys_are_documented() -> None:
    """Those by which requests belong to sessions and pages to their attempts."""
    section = SPIDERS.partition("## Meta keys")[2].partition("\n## ")[0]
    on_page = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    tried = {navigation.ATTEMPT, navigation.BEGUN, navigation.RELOADED}
    assert on_page == {
        context.SESSION,
        context.VIEWPORT,
        pdp.PAGE,
        saved_pages.SAVED_PAGE,
        "download_slot",
        proxy.PROXY,
        playwright_requests.WANTED,
        *tried,
    }


def test_stats_are_documented() -> None:
    """Every key that the crawl counts under has its line in the page about spiders, and no other has."""
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "crawler").rglob("*.py"))
    in_code = {key.partition("{")[0] for key in re.findall(r"\"(vitrine/[^\"]+)\"", source)}
    on_page = {
        re.split(r"STATUS|FIGURE", key)[0]
        for key in re.findall(r"^\| `(vitrine/[^`]+)`", SPIDERS, re.MULTILINE)
    }
    assert on_page == in_code


def test_the_glossary_is_short() -> None:
    """One word for one idea, and few enough of them to be learnt in one reading."""
    words = re.findall(r"\*\*(.+?)\*\*", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    assert len(words) <= 50
    assert [word for word in set(words) if words.count(word) > 1] == []


def test_the_documentation_is_for_its_readers() -> None:
    """No numbers of a specification, and no folder that a clone does not have."""
    told = {path.name: path.read_text(encoding="utf-8") for path in PAGES}
    assert [
        name for name, text in told.items() if re.search(r"\bSPEC [A-F]?\d|\.\./shared|/work/", text)
    ] == []


def test_every_cause_has_its_symptom() -> None:
    """What a session or a task ends with is found by the word that it ends with."""
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert [cause for cause in Cause if f"`{cause}`" not in page] == []
