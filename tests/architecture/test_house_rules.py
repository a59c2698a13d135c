"""The shape of the code: short functions, modules of one idea, names that say something."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
FOLDERS = ("crawler", "scripts", "bench", "tests")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
PACKAGE = [path for path in SOURCES if path.is_relative_to(ROOT / "crawler")]
LOCK_FILES = sorted((ROOT / "requirements").glob("*.txt"))

NAMES_THAT_SAY_NOTHING = {"common", "helper", "helpers", "manager", "misc", "util", "utils"}
MAX_FUNCTION_LINES = 60
MAX_README_LINES = 150
MAX_METHODS = 15
MAX_ATTRIBUTES = 12  # of a class that does something; a record has a field for each thing that it records
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")


def shown(path: Path) -> str:
    """A path as it reads in a failure."""
    return str(path.relative_to(ROOT))


def test_there_is_something_to_look_at() -> None:
    """The rules below hold of the real tree, not of an empty one."""
    assert len(PACKAGE) > 100
    assert {"dev.txt", "peers.txt", "runtime.txt", "scrapyd.txt"} <= {path.name for path in LOCK_FILES}


def test_names_say_something() -> None:
    """A module called utils collects what nobody found a place for."""
    nameless = [shown(p) for p in SOURCES if {p.stem, p.parent.name} & NAMES_THAT_SAY_NOTHING]
    assert nameless == []


def test_functions_are_short() -> None:
    """A function does one thing, and one screen shows it."""
    long = {
        f"{shown(path)}:{node.lineno} {node.name}": length
        for path in SOURCES
        for node in _functions(path)
        if (length := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long == {}


def test_classes_are_small() -> None:
    """A class is about one thing, which a reader can hold in mind with all that it does and knows."""
    methods = {
        f"{shown(path)} {node.name}": len(names)
        for path in PACKAGE
        for node in _classes(path)
        if len(names := _methods(node)) > MAX_METHODS
    }
    assert methods == {}
    attributes = {
        f"{shown(path)} {node.name}": len(known)
        for path in PACKAGE
        for node in _classes(path)
        if len(known := _attributes(node)) > MAX_ATTRIBUTES and _changes_itself(node)
    }
    assert attributes == {}


def test_web_pages_ask_views() -> None:
    """A question that a page shows is one that commands and metrics can ask: no page puts it to tables."""
    asking = re.compile(r"^ *from sqlalchemy.* import .*\b(?:select|func|text)\b", re.MULTILINE)
    web = [path for path in PACKAGE if path.is_relative_to(ROOT / "crawler" / "web")]
    assert [shown(path) for path in web if asking.search(path.read_text(encoding="utf-8"))] == []


def test_nothing_is_left_for_later() -> None:
    """Unfinished work does not hide in a comment."""
    own = Path(__file__)
    marked = [shown(p) for p in SOURCES if p != own and UNFINISHED.search(p.read_text(encoding="utf-8"))]
    assert marked == []


def test_readme_is_short() -> None:
    """A newcomer reads it to its end."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MAX_README_LINES


@pytest.mark.parametrize("path", LOCK_FILES, ids=lambda path: path.name)
def test_lock_files_name_no_place(path: Path) -> None:
    """They pin what is installed, never where from: every machine has its own index."""
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"^.*(?:://| @ |--(?!hash=)[a-z]).*$", text, re.MULTILINE) == []


@pytest.mark.parametrize("path", LOCK_FILES, ids=lambda path: path.name)
def test_lock_files_pin_by_hash(path: Path) -> None:
    """What is installed is, byte for byte, what was locked."""
    pinned = re.split(r"\n(?=\S)", path.read_text(encoding="utf-8").strip())
    assert len(pinned) > 30 or path.name == "scrapyd.txt"  # which adds one to runtime.txt
    assert [e for e in pinned if not re.match(r"\S+==\S+[^\n]*\\\n +--hash=sha256:[0-9a-f]{64}", e)] == []


@cache
def _nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in _nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _classes(path: Path) -> Iterator[ast.ClassDef]:
    for node in _nodes(path):
        if isinstance(node, ast.ClassDef):
            yield node


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]


def _attributes(node: ast.ClassDef) -> set[str]:
    """What is declared in its body, and what its methods set on `self`."""
    declared = {
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    return declared | _set_on_self(node)


def _set_on_self(node: ast.ClassDef) -> set[str]:
    return {
        target.attr
        for target in ast.walk(node)
        if isinstance(target, ast.Attribute)
        and isinstance(target.ctx, ast.Store)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    }


def _changes_itself(node: ast.ClassDef) -> bool:
    """Whether its methods set anything: a frozen value, a table's row and a part of the settings do not."""
    return bool(_set_on_self(node))


def test_everything_that_is_read_is_packed() -> None:
    """A file of the package that is no module comes along in wheels and eggs."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    packed = {path for each in packages["package-data"]["crawler"] for path in (ROOT / "crawler").glob(each)}
    read = {
        path
        for path in (ROOT / "crawler").rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }
    assert sorted(map(shown, read - packed)) == []
