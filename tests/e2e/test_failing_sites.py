"""Sites that fail or ask for pauses: they hold no place that other domains need, and are asked so often."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.db.models import CrawlException, DomainGate
from tests.e2e.conftest import rows
from tests.e2e.farm import QUICK_RUNS, farm, sources_file
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.e2e.conftest import Home
    from tests.e2e.farm import Farm, Special

pytestmark = pytest.mark.soak

GOOD, PAGES = 3, 12
PAUSE = "Retry-After: 60\r\n"
FREE_SECONDS = 3.0  # in which a run looks for domains a few times
MOST_ROBOTS = 4  # requests for robots.txt before the pauses between them are longer than a domain is held


def fails(status: int, headers: str = "", *, robots: bool) -> Special:
    """A site that answers every page so, and its robots.txt where that is said."""
    return lambda path: (status, headers, "no") if robots or path != "/robots.txt" else None


@pytest.mark.parametrize(
    ("answers", "most"),
    [
        (fails(429, PAUSE, robots=True), 1),
        (fails(503, PAUSE, robots=True), 1),
        (fails(503, robots=True), MOST_ROBOTS),
    ],
    ids=["429-pause", "503-pause", "503"],
)
def test_a_site_whose_robots_txt_fails_gives_its_place_to_the_others(
    home: Home, tmp_path: Path, endings: list[subprocess.Popen[str]], answers: Special, most: int
) -> None:
    """With one place, and the failing site first, all pages of the others come before its next try."""
    with farm(1 + GOOD, PAGES, of_first=answers) as sites:
        endings.append(crawl_of(home, sites, tmp_path))
        failing = sites.starts[0].removeprefix("http://")

        def asked(*, of_failing: bool) -> int:
            paths = [path for path in list(sites.asked) if path.startswith(failing) is of_failing]
            return sum(sites.asked[path] for path in paths if of_failing or "robots" not in path)

        wait_for(lambda: asked(of_failing=False) == GOOD * PAGES)
        assert 0 < asked(of_failing=True) <= most
        endings[0].kill()
        endings[0].wait()


@pytest.mark.parametrize("headers", ["", PAUSE])
def test_the_domain_of_a_site_that_pauses_is_free(
    home: Home, tmp_path: Path, endings: list[subprocess.Popen[str]], headers: str
) -> None:
    """The run that waits for the end of the pause holds no lock meanwhile, and goes on living."""
    with farm(1, 1, fails(429, headers, robots=False)) as sites:
        endings.append(crawl_of(home, sites, tmp_path))
        wait_for(lambda: [row.status for row in rows(home)] == ["failed"])
        database = home.database()
        until = time.monotonic() + FREE_SECONDS
        while time.monotonic() < until:
            with database.read() as db:
                assert db.scalars(select(DomainGate.token)).all() == [None]
            time.sleep(0.1)
        database.close()
        assert endings[0].poll() is None
        endings[0].kill()
        endings[0].wait()


def crawl_of(home: Home, sites: Farm, tmp_path: Path) -> subprocess.Popen[str]:
    """Start a run of all sites that has one place."""
    home.extra.update({**QUICK_RUNS, "SOURCES_FILE": sources_file(sites, tmp_path), "SESSIONS_AT_ONCE": "1"})
    return home.start_scrapy(
        "crawl", "site", "-a", "source=farm", "-s", "DOWNLOAD_DELAY=0", "-s", "LOG_LEVEL=ERROR"
    )


def test_a_page_that_is_always_answered_429_is_requested_a_stated_number_of_times(home: Home) -> None:
    """Six times where the site names no pause, as often as others where it does, whatever else it answers."""
    answers = {"/3": (429, "", "slow"), "/4": (429, "Retry-After: 1\r\n", "slow"), "/5": (503, "", "no")}
    home.extra.update({**QUICK_RUNS, "DOMAIN_MAX_DELAY_SECONDS": "0"})
    with farm(1, 30, answers.get) as sites:
        done = home.vitrine("crawl", "site", sites.starts[0], "--json", "-s", "DOWNLOAD_DELAY=0")
        host = sites.starts[0].removeprefix("http://").rstrip("/")
    shown = json.loads(done.stdout)
    assert (done.returncode, shown["outcomes"]["rate_limited"], shown["outcomes"]["blocked"]) == (3, 2, 1)
    assert [sites.asked[f"{host}/{number}"] for number in (3, 4, 5)] == [6, 3, 3]


def site(answers: dict[str, list[int]]) -> Special:
    """A site that answers the requests for some paths with these, one after the other, and then well."""

    def special(path: str) -> tuple[int, str, str] | None:
        left = answers.get(path)
        return (left.pop(0), "", "out of order") if left else None

    return special


def test_one_error_of_robots_txt_is_waited_out(home: Home) -> None:
    """No page is asked for before the rules are known, and none is lost."""
    home.extra.update(QUICK_RUNS)
    with farm(1, 6, site({"/robots.txt": [503, 500]})) as sites:
        done = home.vitrine("crawl", "site", sites.starts[0], "--json", "-s", "DOWNLOAD_DELAY=0")
        host = sites.starts[0].removeprefix("http://").rstrip("/")
    assert (done.returncode, json.loads(done.stdout)["tasks"]["finished"]) == (0, 6)
    assert sites.asked[f"{host}/robots.txt"] == 3
    assert sum(sites.asked.values()) == 3 + 6


def test_a_robots_txt_that_stays_away_fails_the_run(home: Home) -> None:
    """By a cause of its own, with an exception; nothing was asked for without leave."""
    home.extra.update({**QUICK_RUNS, "ROBOTS_PATIENCE_SECONDS": "1"})
    with farm(1, 6, site({"/robots.txt": [503] * 1000})) as sites:
        done = home.vitrine("crawl", "site", sites.starts[0], "--json", "-s", "DOWNLOAD_DELAY=0")
    assert (done.returncode, json.loads(done.stdout)["outcomes"]) == (1, {"robots_unavailable": 1})
    assert {path.partition("/")[2] for path in sites.asked} == {"robots.txt"}
    database = home.database()
    with database.read() as db:
        [noted] = db.scalars(select(CrawlException))
        assert noted.context["cause"] == "robots_unavailable"
    database.close()
