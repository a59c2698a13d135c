"""The page about plugins says what the code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import fields

from crawler.catalogue.plugins import AssetRecord, PluginPage, PluginRegistry
from tests.unit.catalogue.plugins.made_up import URL, page

PAGE = (Path(__file__).parents[4] / "docs" / "plugins.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """What stands under a heading."""
    return re.split(r"\n#+ ", PAGE.partition(f"# {title}\n")[2])[0]


def first_column(title: str) -> set[str]:
    """The words that begin the lines of a section's table."""
    return set(re.findall(r"^\| `(\w+)` \|", section(title), re.MULTILINE))


@pytest.mark.parametrize(("title", "kind"), [("What it gets", PluginPage), ("What it gives", AssetRecord)])
def test_every_field_has_its_line(title: str, kind: type[Any]) -> None:
    """And what can be asked of a page beside its fields."""
    asked = {"html"} if kind is PluginPage else set()
    assert first_column(title) == {field.name.removeprefix("_") for field in fields(kind)} | asked


def test_built_in_plugins_have_their_lines() -> None:
    """Each of them."""
    assert first_column("The plugins that come along") == set(PluginRegistry().names)


def test_the_example_works() -> None:
    """As it stands on the page."""
    [code] = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # ruff: ignore[exec-builtin] - it is the page's own
    registry = PluginRegistry()
    assert registry.register(names["Headings"]())
    [headings] = registry.pick(["headings"])
    [record] = headings.assets(page(body=b"<h1>A  chair</h1><h2>Oak</h2>", charset="utf-8"))
    assert (record.key, record.title) == (URL, "A chair")
    assert record.content == {
        "headings": [{"level": "h1", "text": "A chair"}, {"level": "h2", "text": "Oak"}]
    }
