"""`vitrine hauls`: captured once, gone on with, shown together."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.cli import hauls as commands
from crawler.cli.crawl import Crawl, FinishedCrawl
from crawler.clock import utc_now
from tests.unit.views.rows import a_page, a_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Done, Vitrine

URLS = ["https://a.example/", "https://b.example/"]


@pytest.fixture
def create(
    vitrine: Vitrine, database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Create a haul of two URLs, with a crawl that visits these and leaves it at that."""

    def run_it(*visited: str, interrupted: bool = False, name: str = "spring") -> Done:
        def crawl(order: Crawl) -> FinishedCrawl:
            assert order.arguments == {"urls": str(Path("shops.txt").resolve())}
            sessions = [a_session(url=url, created_at=utc_now()) for url in visited]
            with database.write() as db:
                db.add_all(sessions)
                db.flush()
                db.add_all(a_page(session.id) for session in sessions)
            return FinishedCrawl(sessions=[session.id for session in sessions], interrupted=interrupted)

        monkeypatch.setattr(commands, "run_crawl", crawl)
        Path("shops.txt").write_text("\n".join(URLS) + "\n", encoding="utf-8")
        return vitrine("hauls", "create", name, "--urls", "shops.txt", "--json", DATABASE_URL=database_url)

    return run_it


def test_a_haul_is_captured_and_shown(create: Callable[..., Done], vitrine: Vitrine) -> None:
    """With what was found under each URL."""
    done = create(*URLS)
    assert done.code == 0
    assert (done.document["urls"], done.document["captured"]) == (2, 2)
    assert [(each["url"], each["name"]) for each in done.document["members"]] == [
        (url, "A chair") for url in URLS
    ]
    assert "19.90 EUR" in vitrine("hauls", "show", "spring").out
    [haul] = vitrine("hauls", "list", "--json").document["hauls"]
    assert (haul["name"], haul["source"], haul["captured"]) == ("spring", "shops.txt", 2)


def test_an_interrupted_haul_is_gone_on_with(create: Callable[..., Done]) -> None:
    """What is captured stays; once all is, nobody goes there again."""
    first = create(URLS[0], interrupted=True)
    assert (first.code, first.document["captured"]) == (130, 1)
    assert "goes on where it stopped" in first.err
    assert create(URLS[1]).document["captured"] == 2
    again = create(*URLS)
    assert again.code == 5
    assert "there is a haul 'spring' already" in again.err


def test_a_file_that_can_be_read_once_only_makes_no_haul(vitrine: Vitrine, database_url: str) -> None:
    """A pipe: nothing could be gone on with from it."""
    os.mkfifo("pipe")
    with ThreadPoolExecutor(1) as threads:
        threads.submit(Path("pipe").write_text, "https://a.example/\n", encoding="utf-8")
        done = vitrine("hauls", "create", "spring", "--urls", "pipe", DATABASE_URL=database_url)
    assert (done.code, done.out) == (2, "")
    assert "error[usage]: pipe can be read once only" in done.err
    assert vitrine("hauls", "list", "--json", DATABASE_URL=database_url).document["hauls"] == []
