"""A page is given each script as one function, without the lines that explain it."""

from __future__ import annotations

from importlib import resources

import pytest

from crawler.rendering.page_scripts import script

NAMES = [
    each.name.removesuffix(".js")
    for each in resources.files("crawler.rendering.scripts").iterdir()
    if each.name.endswith(".js")
]


@pytest.mark.parametrize("name", NAMES)
def test_a_script_is_an_expression(name: str) -> None:
    """So that it can be called where it stands; it ends with no semicolon that would end that."""
    text = script(name).strip()
    assert not text.startswith("//")
    assert text.startswith(("(", "async", "function"))
    assert text.endswith("}")


def test_a_name_that_is_none_is_an_error() -> None:
    """And no path."""
    for name in ("none", "../page_scripts"):
        with pytest.raises(OSError, match=r"\.js"):
            script(name)
