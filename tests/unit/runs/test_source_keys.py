"""Each key of a source reads what it takes, in one spelling, and refuses the rest in words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from crawler.runs.source_keys import ENGINES, KEYS, WrongValueError


@pytest.mark.parametrize(
    ("key", "said", "read"),
    [
        ("name", "Cups", "Cups"),
        ("start_urls", ["https://shop.example/", "https://shop.example/"], ("https://shop.example/",)),
        ("allowed_domains", ["SHOP.example", "*.shop.example"], ("shop.example", "*.shop.example")),
        ("deny", ["/account/**"], ("/account/**",)),
        ("depth", 0, 0),
        ("jitter_seconds", 2, 2.0),
        ("enabled", False, False),
        ("engine", "zimit", "zimit"),
        ("job_name", "{code}-{date:%Y}", "{code}-{date:%Y}"),
        ("ignore_selectors", [".banner"], (".banner",)),
        ("schedule", "0 3 * * 1", "0 3 * * 1"),
    ],
)
def test_what_a_key_takes(key: str, said: Any, read: Any) -> None:
    """A list has each of its values once, in its order."""
    assert KEYS[key].read(said) == read


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("name", ""),
        ("start_urls", []),
        ("start_urls", ["ftp://shop.example/"]),
        ("allowed_domains", "shop.example"),
        ("deny", ["account"]),
        ("depth", True),
        ("depth", 1001),
        ("max_pages", 2.5),
        ("jitter_seconds", float("nan")),
        ("enabled", 1),
        ("engine", "wget"),
        ("job_name", "{title}"),
        ("ignore_selectors", ["p["]),
        ("schedule", "every day"),
        ("job", ["--depth"]),
    ],
)
def test_what_a_key_refuses(key: str, said: Any) -> None:
    """With the reason, which is no traceback of a library's."""
    with pytest.raises(WrongValueError) as refused:
        KEYS[key].read(said)
    assert str(refused.value)


def test_what_is_one_engines_own_is_said_of_it() -> None:
    """In the page about sources, sentence by sentence."""
    page = (Path(__file__).parents[3] / "docs" / "sources.md").read_text(encoding="utf-8")
    said = re.search(
        r"\n((?:`\w+`[,\s]+(?:and\s)?)+)are for the engine `vitrine`, `(\w+)` is for `zimit`", page
    )
    assert said
    named = {"vitrine": set(re.findall(r"`(\w+)`", said[1])), "zimit": {said[2]}}
    assert named == {one: {name for name, key in KEYS.items() if key.engine == one} for one in ENGINES}
