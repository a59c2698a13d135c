"""What a run could not have is said, and can be had later: a robots.txt that is away, pages that failed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from crawler.db.models import CrawlException, Page, Task
from tests.e2e.farm import QUICK_RUNS, farm

if TYPE_CHECKING:
    from tests.e2e.conftest import Home
    from tests.e2e.farm import Special

pytestmark = pytest.mark.soak(minutes=5)

PAGES = 6
QUICKLY = ("-s", "DOWNLOAD_DELAY=0")


def site(answers: dict[str, list[int]]) -> Special:
    """A site that answers the requests for some paths with these, one after the other, and then well."""

    def special(path: str) -> tuple[int, str, str] | None:
        left = answers.get(path)
        return (left.pop(0), "", "out of order") if left else None

    return special


def test_one_error_of_robots_txt_is_waited_out(home: Home) -> None:
    """No page is asked for before the rules are known, and none is lost."""
    home.extra.update(QUICK_RUNS)
    with farm(1, PAGES, site({"/robots.txt": [503, 500]})) as sites:
        done = home.vitrine("crawl", "site", sites.starts[0], "--json", *QUICKLY)
        host = sites.starts[0].removeprefix("http://").rstrip("/")
    assert (done.returncode, json.loads(done.stdout)["tasks"]["finished"]) == (0, PAGES)
    assert sites.asked[f"{host}/robots.txt"] == 3
    assert sum(sites.asked.values()) == 3 + PAGES


def test_a_robots_txt_that_stays_away_fails_the_run(home: Home) -> None:
    """By a cause of its own, with an exception; nothing was asked for without leave."""
    home.extra.update({**QUICK_RUNS, "ROBOTS_PATIENCE_SECONDS": "1"})
    with farm(1, PAGES, site({"/robots.txt": [503] * 1000})) as sites:
        done = home.vitrine("crawl", "site", sites.starts[0], "--json", *QUICKLY)
    assert (done.returncode, json.loads(done.stdout)["outcomes"]) == (1, {"robots_unavailable": 1})
    assert {path.partition("/")[2] for path in sites.asked} == {"robots.txt"}
    database = home.database()
    with database.read() as db:
        [noted] = db.scalars(select(CrawlException))
        assert noted.context["cause"] == "robots_unavailable"
    database.close()


def test_what_failed_is_tried_again_on_demand(home: Home) -> None:
    """A run of which pages were not to be had says so by its code, and can be gone on with."""
    home.extra.update(QUICK_RUNS)
    with farm(1, PAGES, site({"/3": [500] * 3})) as sites:
        first = home.vitrine("crawl", "site", sites.starts[0], *QUICKLY)
        assert home.vitrine("runs", "resume", "1", *QUICKLY).returncode == 5  # there is nothing left of it
        again = home.vitrine("runs", "resume", "1", "--retry-errors", *QUICKLY)
        assert home.vitrine("runs", "resume", "1", "--retry-errors", *QUICKLY).returncode == 5
    assert (first.returncode, again.returncode) == (3, 0), again.stderr
    database = home.database()
    with database.read() as db:
        assert db.execute(select(Task.status, func.count()).group_by(Task.status)).all() == [
            ("finished", PAGES)
        ]
        assert db.scalar(select(func.count()).where(Page.status == "ok")) == PAGES
    database.close()
