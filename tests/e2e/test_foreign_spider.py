"""A spider that knows nothing of Vitrine gets gate, evidence and policy by the project's settings alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


def run(home: Home, shops: DemoServer, feed: Path, *more: str) -> list[dict[str, object]]:
    """Run the foreign spider on a shop, and give back its feed."""
    done = home.scrapy(
        "runspider", "tests/e2e/foreign_spider.py", "-a", f"url={shops.url('plain')}",
        "-O", str(feed), "-s", "DOWNLOAD_DELAY=0", *more,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in feed.read_text(encoding="utf-8").splitlines()]


def test_its_pages_are_judged_and_kept_in_a_session(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """One session for the domain, one request at a time, each page with its files and its verdict."""
    shops.forget()
    rows = run(home, shops, tmp_path / "out.jsonl")
    [session] = home.sessions()
    stored = [row for row in rows if "page_id" in row]
    assert (session["status"], session["domain"]) == ("completed", shops.domain("plain"))
    assert len(stored) == len(rows) - len(stored) == len(session["pages"]) > 5
    assert sum(bool(row["is_pdp"]) for row in stored) == len(stored) - 1
    assert {a["storage_uri"] for a in session["artifacts"]} == home.files()
    assert shops.log.peak("plain") == 1


def test_it_may_go_without_evidence(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """CAPTURE_PAGES=False leaves the gate and drops the rest."""
    rows = run(home, shops, tmp_path / "out.jsonl", "-s", "CAPTURE_PAGES=False")
    [session] = home.sessions()
    assert all(row.keys() == {"title"} for row in rows)
    assert [a["type"] for a in session["artifacts"]] == ["session_logs_jsonl"]
