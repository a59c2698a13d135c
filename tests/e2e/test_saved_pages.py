"""The rule on saved pages, through Scrapy: contracts and feeds, without a network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


def test_scrapy_check_holds_the_rule_to_saved_pages(home: Home) -> None:
    """At least three contracts run, and no database is made for them."""
    done = home.scrapy("check")
    assert done.returncode == 0, done.stderr
    ran = next(line for line in done.stderr.splitlines() if line.startswith("Ran "))
    assert int(ran.split()[1]) >= 3
    assert not home.path.exists()


@pytest.mark.soak
def test_contracts_hold_for_the_other_policy_too(home: Home) -> None:
    """The verdict is compared with the one that is written down for the policy in force."""
    assert home.scrapy("check", "-s", "CRAWL_POLICY_VERSION=v1.3").returncode == 0


def test_saved_pages_go_through_feeds(home: Home, tmp_path: Path) -> None:
    """A folder of pages becomes a feed of verdicts, each as its case expects it."""
    feed = tmp_path / "verdicts.jsonl"
    pattern = f"{ROOT}/tests/contract/pdp/platform-*/page.html"
    done = home.scrapy("crawl", "saved-pages", "-a", f"files={pattern}", "-O", str(feed), "--nolog")
    rows = [json.loads(line) for line in feed.read_text().splitlines()]
    assert done.returncode == 0
    assert len(rows) == len(list(ROOT.glob("tests/contract/pdp/platform-*/page.html"))) > 5
    assert all(row["is_pdp"] for row in rows)


@pytest.mark.soak
def test_the_shell_opens_a_saved_page(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """What is fetched afterwards takes its place; no file is one line."""
    file, url = tmp_path / "page.html", shops.url("plain")
    file.write_text("<title>Saved</title>", encoding="utf-8")
    saved, fetched = "print(response.url, response.css('title::text').get())", f"fetch('{url}')"
    done = home.scrapy("shell", str(file), "-c", f"({saved}, {fetched}, print(response.url))")
    assert done.stdout.splitlines()[:2] == [f"{file.as_uri()} Saved", url], done.stderr
    done = home.scrapy("shell", f"{file}.none", "-c", "print(response)")
    assert done.returncode == 2
    assert "cannot be read: No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.soak
def test_a_page_becomes_a_case(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """`scripts/record_fixture.py URL` fetches it through the gate, and writes what is judged now."""
    url = shops.url("german", "/p/nebelmeer-oolong")
    done = home.python(
        "-m",
        "scripts.record_fixture",
        url,
        "--name",
        "oolong",
        "--about",
        "a German tea",
        "--into",
        str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    expected = json.loads((tmp_path / "oolong" / "expected.json").read_bytes())
    assert expected["verdicts"]["v1.2"]["is_pdp"] is True
    assert expected["facts"]["currency"] == "EUR"
    assert b"Nebelmeer" in (tmp_path / "oolong" / "page.html").read_bytes()
