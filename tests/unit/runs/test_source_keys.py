"""Each key of a source reads what it takes, in one spelling, and refuses the rest in words."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.runs.source_keys import ENGINES_OWN, KEYS, WrongValueError


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


def test_what_is_one_engines_own_is_a_key() -> None:
    """And of one engine only."""
    own = [key for keys in ENGINES_OWN.values() for key in keys]
    assert set(own) <= KEYS.keys()
    assert len(own) == len(set(own))
