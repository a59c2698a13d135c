"""Nothing stands in the package that nobody names: what a change leaves behind goes with it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
READERS = ("crawler", "scripts", "bench")
KINDS = {".py", ".html", ".js", ".toml"}
# Libraries call these by their names.
CALLED = {
    "_browser_disconnected_callback", "_download_request_with_page", "adjust_request_args", "buildProtocol",
    "close_spider",
    "enqueue_request", "lineLengthExceeded", "load_dialect_impl", "next_request", "post_process",
    "process_item", "process_spider_exception", "process_spider_input", "process_spider_output",
    "readinto", "result_processor", "type_annotation_map", "update_vars",
    "update_settings",
}  # fmt: skip
# Words that are stored, of which a specification has the list.
LISTED = {"AUDIT_FAILED", "PDP_NAVIGATION_FAILED", "PLUGIN"}
FOR_TESTS = {"gaps"}  # of the demo, which is their web server
SETTINGS = (ROOT / "crawler" / "settings.py", ROOT / "crawler" / "config")  # read by other spellings
# Scrapy finds a spider by its class, and a spider's callbacks by their names.
SPIDERS = re.compile(r"\w+Spider|parse_\w+")


def test_everything_is_named_somewhere_else() -> None:
    """A function, class or constant of which there is nothing but its definition is dead."""
    words = Counter(word for text in texts() for word in re.findall(r"\w+", text))
    assert len(words) > 5_000
    unknown = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "crawler").rglob("*.py"))
        if "migrations" not in path.parts and not path.is_relative_to(SETTINGS[1]) and path != SETTINGS[0]
        for name in defined(ast.parse(path.read_text(encoding="utf-8")))
        if words[name] == 1
        and not name.startswith("__")
        and name not in CALLED | LISTED | FOR_TESTS
        and not SPIDERS.fullmatch(name)
    ]
    assert unknown == []


def texts() -> Iterator[str]:
    """All that may name something."""
    for folder in READERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in KINDS:
                yield path.read_text(encoding="utf-8")
    yield (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def defined(tree: ast.Module) -> Iterator[str]:
    """The names that a module makes; a decorator hands on what it decorates."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name, decorator_list=[])
                | ast.AsyncFunctionDef(name=name, decorator_list=[])
            ):
                yield name
            case ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
