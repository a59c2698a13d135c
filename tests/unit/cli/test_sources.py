"""`vitrine sources`: what the file says, and what is odd about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Vitrine

FINE = """
[sources.cups]
name = "Cups [red]"
start_urls = ["https://cups.example/", "https://cups.example/1", "https://cups.example/2", "https://cups.example/3"]
deny = ["/account/**"]
max_pages = 500

[sources.pots]
start_urls = ["https://pots.example/"]
"""
ODD = FINE + 'allow = ["/pots/**"]\n'


@pytest.fixture
def written() -> None:
    """The file is where it is looked for when nothing is said."""
    Path("sources.toml").write_text(FINE, encoding="utf-8")


def test_the_list(vitrine: Vitrine, written: None) -> None:
    """Codes, names, starts and limits; for machines everything."""
    done = vitrine("sources", "list")
    assert done.code == 0
    for shown in ("cups", "Cups [red]", "https://cups.example/2", "and 1 more", "pages 500", "pots", "none"):
        assert shown in done.out
    assert "https://cups.example/3" not in done.out
    document = vitrine("sources", "list", "--json").document
    assert document["file"] == "sources.toml"
    assert [source["code"] for source in document["sources"]] == ["cups", "pots"]
    assert document["sources"][0]["deny"] == ["/account/**"]
    lines = vitrine("sources", "list", "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == document["sources"]


def test_the_list_is_cut_like_every_other(vitrine: Vitrine, written: None) -> None:
    """By domain, by the day on which a source was registered, and page by page."""

    def cut(*options: str) -> list[str]:
        return [each["code"] for each in vitrine("sources", "list", "--json", *options).document["sources"]]

    assert cut("--domain", "https://www.CUPS.example/x") == ["cups"]
    assert cut("--limit", "1") == ["cups"]
    assert "more: --after cups" in vitrine("sources", "list", "--limit", "1").err
    assert cut("--after", "CUPS") == ["pots"]
    assert cut("--since", "2020-01-01") == []
    assert vitrine("sources", "list", "--domain", "none.example", "--fail-empty").code == 4
    unknown = vitrine("sources", "list", "--after", "cans")
    assert (unknown.code, unknown.err.splitlines()[0]) == (1, "error[not_found]: there is no source 'cans'")
    vitrine("sources", "seed")
    assert cut("--since", "2020-01-01") == ["hc", "phac", "cups", "pots"]
    assert cut("--since", "2020-01-01", "--until", "2020-01-02") == []


def test_a_check_says_per_source_what_is_odd(vitrine: Vitrine) -> None:
    """And fails."""
    Path("sources.toml").write_text(ODD, encoding="utf-8")
    done = vitrine("sources", "check")
    assert done.code == 1
    assert "cups: nothing odd" in done.out
    assert "pots: start_urls: https://pots.example/ is out of the source's own scope" in done.out
    document = vitrine("sources", "check", "--json").document
    assert (document["ok"], [source["ok"] for source in document["sources"]]) == (False, [True, False])
    assert document["sources"][1]["oddities"][0]["key"] == "start_urls"
    assert vitrine("sources", "check", "--source", "cups").code == 0


def test_a_url_is_judged_with_the_rule_that_decides(vitrine: Vitrine, written: None) -> None:
    """That it is denied is an answer, and no failure; no password is repeated."""
    urls = ["https://cups.example/account/orders", "https://u:geheim@cups.example/"]
    asked = [word for url in urls for word in ("--url", url)]
    done = vitrine("sources", "check", "--source", "cups", *asked)
    assert done.code == 0
    assert "cups: denied https://cups.example/account/orders: deny has '/account/**'" in done.out
    assert "geheim" not in done.out
    [cups, pots] = map(json.loads, vitrine("sources", "check", "--jsonl", *asked).out.splitlines())
    assert cups["urls"][0] == {
        "url": urls[0],
        "allowed": False,
        "reason": "filtered by path rules",
        "by": "deny",
        "rule": "/account/**",
    }
    assert [each["reason"] for each in pots["urls"]] == ["filtered by domain rules", "filtered invalid url"]


@pytest.mark.parametrize("command", ["list", "check"])
def test_a_broken_file_is_one_line(vitrine: Vitrine, command: str) -> None:
    """With the way to mend it, and exit code 2."""
    Path("sources.toml").write_text("[sources.cups]\nstart_urls = 1\n", encoding="utf-8")
    done = vitrine("sources", command)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "error[config]: sources.toml: source 'cups': start_urls: 1 is no list",
        "hint: start_urls takes a list of http or https URLs, one at least",
    ]
    assert vitrine("sources", command, SOURCES_FILE="none.toml").code == 2
    assert vitrine("sources", "check", "--source", "pots").code == 2
