"""Saves a page as a new contract case with its verdict, for a person to review.

Usage: python -m scripts.record_fixture URL --name CASE --about "what it shows"
       python -m scripts.record_fixture FILE --url URL --name CASE --about "what it shows"

A URL is fetched by the project's own crawl: through the gate, as robots.txt allows, from public addresses.
Before a page is committed it has to become one of your own writing that shows the same trap.
"""

from __future__ import annotations

from crawler import interrupts

if __name__ == "__main__":
    interrupts.end_at_once()

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from crawler.pdp import POLICIES, Verdict, facts_as_dict, judge, read_facts, read_page

CASES = Path(__file__).resolve().parent.parent / "tests" / "contract" / "pdp"
PINNED_FACTS = ("name", "price", "currency", "list_price", "availability", "sku", "gtin", "brand")


def record(body: bytes, *, url: str, about: str, folder: Path) -> dict[str, Any]:
    """Write `page.html` and `expected.json` into a new folder; what stands there is what is judged now."""
    page = read_page(body, url=url)
    facts = facts_as_dict(read_facts(page))
    expected = {
        "about": about,
        "url": url,
        "verdicts": {policy: _verdict(judge(page, policy)) for policy in POLICIES},
        "facts": {name: facts[name] for name in PINNED_FACTS if facts[name] is not None},
    }
    folder.mkdir(parents=True)
    (folder / "page.html").write_bytes(body)
    text = json.dumps(expected, ensure_ascii=False, indent=2)
    (folder / "expected.json").write_text(f"{text}\n", encoding="utf-8")
    return expected


def fetched(url: str) -> bytes:
    """A page's bytes, as `scrapy fetch` in this project has them."""
    command = [sys.executable, "-m", "scrapy", "fetch", "--nolog", url]
    done = subprocess.run(command, cwd=CASES.parents[2], check=False, stdout=subprocess.PIPE)
    return done.stdout


def main() -> int:
    """Read the arguments, record, and show what is to be reviewed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", metavar="URL|FILE", help="a page to fetch, or a saved one")
    parser.add_argument("--url", help="the address a saved page is judged under")
    parser.add_argument("--name", required=True, help="the new case's folder")
    parser.add_argument("--into", type=Path, default=CASES, help="where the cases lie")
    parser.add_argument("--about", required=True, help="the trap or idiom that it shows")
    given = parser.parse_args()
    folder = given.into / given.name
    if folder.exists():
        parser.error(f"there is a case {given.name} already")
    is_url = given.page.startswith(("http://", "https://"))
    if not is_url and not given.url:
        parser.error("a saved page needs its --url")
    body = fetched(given.page) if is_url else Path(given.page).read_bytes()
    if not body.strip():
        parser.error(f"{given.page} gave nothing")
    url = given.page if is_url else given.url
    expected = record(body, url=url, about=given.about, folder=folder)
    sys.stdout.write(json.dumps(expected, ensure_ascii=False, indent=2) + "\n")
    sys.stderr.write(f"review {folder}/expected.json: it holds what is judged now, not what is right\n")
    return 0


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "is_pdp": verdict.is_pdp,
        "signals": verdict.signals.as_dict(),
        "reasons": list(verdict.reasons),
    }


if __name__ == "__main__":
    sys.exit(interrupts.run(main))
