"""Every way out of a request ends its task: one run of a site with a page of every kind."""

from __future__ import annotations

import gzip
import json
import random
import socket
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from attrs import frozen
from sqlalchemy import select

from crawler.db.models import CrawlException, Page, Run, ScrapeRecord, Task
from tests.e2e.conftest import Home
from tests.e2e.farm import QUICK_RUNS, SILENCE, farm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.farm import Farm

QUICK = {**QUICK_RUNS, "TASK_MAX_RETRIES": "2"}
OUTSIDE = "http://127.9.9.9:9/elsewhere"
# In the order in which the first page names them.
SPECIAL = (
    "account", "404", "500", "429", "moved", "moved-new", "away", "loop", "private/x", "silence",
    "callback-fails", "swallowed", "dropped", "pipeline-fails", "dropped-late", "fails-late", "pdf", "empty",
    "1", "1#twice", "account/orders", "cut", "to-mail", "to-nowhere", "odd",
    "led-1", "led-2", "led-3", "led-4",
)  # fmt: skip
DEEP = "2"
NEVER = "account/orders/7"  # named when the run knows already that it is behind a login


def redirect(to: str) -> tuple[int, str, str]:
    """An answer that leads elsewhere."""
    return 302, f"Location: {to}\r\n", ""


def packed_and_cut() -> bytes:
    """Half of a page, packed."""
    data = gzip.compress(page(["/1"]).encode() + random.Random(3).randbytes(9_000).hex().encode())
    return data[: len(data) // 2]


class Site:
    """A site with a page of every kind; it counts what it is asked for."""

    def __init__(self, refused: str) -> None:
        self.refused = refused
        self.asked: list[str] = []

    def __call__(self, path: str) -> tuple[int, str, str | bytes] | None:
        """The answer to a request for a path."""
        self.asked.append(path)
        answers: dict[str, tuple[int, str, str | bytes]] = {
            "/robots.txt": (200, "", "User-agent: *\nDisallow: /private\n"),
            "/": (200, "", page([*SPECIAL, self.refused, OUTSIDE, "mailto:me@example.com"])),
            "/1": (200, "", page(["/", DEEP, NEVER])),
            "/404": (404, "", "gone"),
            "/500": (500, "", "out of order"),
            "/moved": redirect("/1"),
            "/moved-new": redirect("/new"),
            "/away": redirect(OUTSIDE),
            "/loop": redirect("/loop"),
            "/account": redirect("/auth/login?continue=/account"),
            "/auth/login?continue=/account": (200, "", page([])),
            "/silence": (SILENCE, "", ""),
            "/pdf": (200, "Content-Type: application/pdf\r\n", "%PDF-1.4 no page"),
            "/empty": (200, "", " "),
            "/cut": (200, "Content-Encoding: gzip\r\nContent-Type: text/html\r\n", packed_and_cut()),
            "/to-mail": redirect("mailto:me@example.com"),
            "/to-nowhere": (302, "", ""),
            "/odd": (299, "", page([])),
            **{f"/led-{number}": redirect("/the-one") for number in range(1, 5)},
            "/the-one": (200, "", page([DEEP])),
        }
        if path == "/429" and self.asked.count("/429") == 1:
            return 429, "Retry-After: 1\r\n", "slow down"
        return answers.get(path) or (200, "", page([]))


def page(links: list[str] | tuple[str, ...]) -> str:
    """A page with links."""
    anchors = "".join(f'<a href="{link}">a link</a> ' for link in links)
    return f"<!doctype html><title>A page</title><h1>A page</h1><p>{'words ' * 40}</p>{anchors}"


@frozen
class Crawled:
    """What a run left."""

    home: Home
    sites: Farm
    site: Site
    returncode: int
    log: str
    run: Run
    tasks: dict[str, Task]  # by path
    pages: list[Page]
    exceptions: list[CrawlException]
    records: list[ScrapeRecord]

    def ended(self, path: str) -> tuple[str, str | None, str | None]:
        """How a task ended: its status, what came of it or why nothing did, and that in words."""
        task = self.tasks[path]
        return task.status, task.outcome or task.cause, task.last_error

    def recorded(self, path: str) -> list[tuple[str, str, str | None]]:
        """What was written down of a task's attempts; not that it was given back, as while a site rests."""
        task_id = str(self.tasks[path].id)
        records = [row for row in self.records if row.kind == "task" and row.subject_id == task_id]
        ends = [(row.status, row.details["outcome"], row.cause) for row in records]
        return [end for end in ends if end[1] != "given_back"]

    def noted(self, path: str) -> list[CrawlException]:
        """The exceptions of a page."""
        return [row for row in self.exceptions if row.url.endswith(path)]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One run of the site, with awkward components in its way."""
    folder = tmp_path_factory.mktemp("run")
    with socket.socket() as closed:
        closed.bind(("127.0.3.99", 0))  # and not listening: nobody else gets the port either
        refused = f"127.0.3.99:{closed.getsockname()[1]}"
        site = Site(f"http://{refused}/refused")
        with farm(hosts=1, pages=1, special=site) as sites:
            yield crawl(folder, sites, site, refused)


def crawl(folder: Path, sites: Farm, site: Site, refused: str) -> Crawled:
    """Run the crawl, and read what it stored."""
    own = sites.starts[0].removeprefix("http://").rstrip("/")
    (folder / "sources.toml").write_text(
        f'[sources.odd]\nstart_urls = ["{sites.starts[0]}"]\nallowed_domains = ["{own}", "{refused}"]\n'
        "fetch_timeout_seconds = 1\n",
        encoding="utf-8",
    )
    home = Home(folder / "home", {**QUICK, "SOURCES_FILE": str(folder / "sources.toml")})
    done = home.scrapy(
        "crawl", "site", "-a", "source=odd", "-s", "DOWNLOAD_DELAY=0",
        *with_component("SPIDER_MIDDLEWARES", AwkwardOutput=500),
        *with_component("ITEM_PIPELINES", EarlyPipeline=100, LatePipeline=900),
    )  # fmt: skip
    database = home.database()
    with database.read() as db:
        tasks = {"/" + task.url.split("/", 3)[3]: task for task in db.scalars(select(Task))}
        crawled = Crawled(
            home, sites, site, done.returncode, done.stderr, db.scalars(select(Run)).one(), tasks,
            list(db.scalars(select(Page))), list(db.scalars(select(CrawlException))),
            list(db.scalars(select(ScrapeRecord).order_by(ScrapeRecord.id))),
        )  # fmt: skip
    database.close()
    return crawled


def with_component(setting: str, **components: int) -> tuple[str, str]:
    """An option that adds components to the project's own."""
    named = {f"tests.e2e.awkward.{name}": order for name, order in components.items()}
    return "-s", f"{setting}={json.dumps(named)}"


def test_the_run_is_completed_and_nothing_is_left(crawled: Crawled) -> None:
    """SPEC D77: whatever becomes of its requests, a run comes to its end."""
    assert crawled.returncode == 3  # some of its pages were not to be had
    assert (crawled.run.status, crawled.run.last_error) == ("completed", None)
    assert crawled.run.completed_at
    assert {task.status for task in crawled.tasks.values()} == {"finished", "error"}
    assert {task.lease_owner for task in crawled.tasks.values()} == {None}


def test_only_what_was_swallowed_was_lost_on_the_way(crawled: Crawled) -> None:
    """The sweep that ends lost tasks finds no others."""
    lost = [line for line in crawled.log.splitlines() if "task.lost_in_crawl" in line]
    assert len(lost) == 2  # tried twice
    assert all("/swallowed" in line for line in lost)
    assert crawled.ended("/swallowed") == ("error", "lost", "the request got lost in the crawl")


def test_a_page_is_found_once_and_nothing_outside_is_found(crawled: Crawled) -> None:
    """Twenty ways to name a page are one task; what the scope leaves out never becomes any."""
    paths = {f"/{name}" for name in (*SPECIAL, DEEP)} - {"/1#twice"} | {"/", "/refused"}
    assert crawled.tasks.keys() == paths
    assert all(task.depth == (path != "/") + (path == f"/{DEEP}") for path, task in crawled.tasks.items())


def test_pages_are_asked_for_level_by_level(crawled: Crawled) -> None:
    """What stands two links away comes after everything that stands one link away."""
    asked = crawled.site.asked
    assert asked[:2] == ["/robots.txt", "/"]
    assert asked.count("/robots.txt") == 1
    first = {f"/{name}" for name in SPECIAL} - {"/1#twice", "/private/x", "/account/orders"}
    assert {asked.index(path) for path in first} <= set(range(asked.index(f"/{DEEP}")))


@pytest.mark.parametrize("path", ["/", "/1", "/429", "/moved-new", "/dropped-late", "/fails-late"])
def test_what_was_had_is_stored_once(crawled: Crawled, path: str) -> None:
    """After a 429, after a redirect, and when somebody loses the item when it is stored."""
    assert crawled.ended(path) == ("finished", "stored", None)
    of_it = [row for row in crawled.pages if row.id == crawled.tasks[path].page_id]
    assert [row.status for row in of_it] == ["ok"]


def test_no_page_is_stored_twice(crawled: Crawled) -> None:
    """Each finished task has a page of its own, and there are no others."""
    stored = [row.id for row in crawled.pages if row.status == "ok"]
    of_tasks = [task.page_id for task in crawled.tasks.values() if task.page_id]
    assert sorted(stored) == sorted(of_tasks)
    assert max(Counter(row.url for row in crawled.pages).values()) == 1


def test_an_answer_that_is_no_page_is_tried_again_only_where_that_may_help(crawled: Crawled) -> None:
    """A 404 is final; a 500 gets all its tries; both say what they were."""
    assert crawled.ended("/404") == ("error", "http_error", "HTTP 404")
    assert crawled.ended("/500") == ("error", "http_error", "HTTP 500")
    assert crawled.tasks["/404"].attempts == crawled.site.asked.count("/404") == 1
    assert crawled.tasks["/500"].attempts == crawled.site.asked.count("/500") == 2
    assert crawled.tasks["/429"].attempts == crawled.site.asked.count("/429") == 2


@pytest.mark.parametrize(
    ("path", "cause", "error"),
    [
        ("/refused", "connection_failed", ""),
        ("/silence", "timeout", ""),
        ("/callback-fails", "crashed", "no callback of mine"),
        ("/dropped", "not_stored", "not to my taste"),
        ("/pipeline-fails", "not_stored", "cannot digest this"),
        ("/empty", "empty_page", "HTTP 200"),
        ("/cut", "truncated", "HTTP 200"),
    ],
)
def test_what_may_pass_is_tried_again_and_then_given_up(
    crawled: Crawled, path: str, cause: str, error: str
) -> None:
    """SPEC D72, D73: after its tries the task is an error that says why, and a person is told."""
    status, why, last_error = crawled.ended(path)
    assert (status, why, crawled.tasks[path].attempts) == ("error", cause, 2)
    assert last_error
    assert last_error.startswith(error)
    assert not last_error.startswith(cause)
    [noted] = crawled.noted(path)
    assert (noted.context["cause"], noted.context["attempts"]) == (cause, 2)


def test_every_end_is_on_record(crawled: Crawled) -> None:
    """By whatever it came to, and what came to it by the way; as many as there were attempts."""
    assert crawled.recorded("/1") == [("finished", "stored", None)]
    assert crawled.recorded("/moved") == [("finished", "redirected", None)]
    assert crawled.recorded("/404") == [("error", "error", "http_error")]
    assert crawled.recorded("/private/x") == [("error", "refused", "robots_refused")]
    assert crawled.recorded("/dropped") == [
        ("pending", "retried", "not_stored"), ("error", "error", "not_stored"),
    ]  # fmt: skip
    for path, task in crawled.tasks.items():
        assert len(crawled.recorded(path)) == task.attempts, path
        assert crawled.recorded(path)[-1][0] == task.status


def test_what_a_site_may_rightly_do_is_no_exception(crawled: Crawled) -> None:
    """Filtered and forbidden pages are errors of their tasks, and nothing that a person has to look at."""
    assert crawled.ended("/away") == ("error", "filtered", "filtered by domain rules")
    assert crawled.ended("/private/x")[:2] == ("error", "robots_refused")
    assert crawled.ended("/account/orders") == ("error", "filtered", "filtered by path rules")
    for path in ("/away", "/private/x", "/account", "/account/orders"):
        assert not crawled.noted(path)
        assert crawled.tasks[path].attempts == 1
    assert "/private/x" not in crawled.site.asked


def test_a_redirect_to_a_known_page_stores_nothing(crawled: Crawled) -> None:
    """The task is finished as `redirected`, and the page is that of the other task."""
    assert crawled.ended("/moved") == ("finished", "redirected", None)
    assert crawled.tasks["/moved"].page_id is None
    assert crawled.site.asked.count("/1") == 1


@pytest.mark.parametrize(
    ("path", "cause"), [("/to-mail", "bad_redirect"), ("/to-nowhere", "bad_redirect"), ("/odd", "odd_status")]
)
def test_what_leads_nowhere_is_asked_for_once(crawled: Crawled, path: str, cause: str) -> None:
    """It has a cause of its own, and a person is told."""
    assert crawled.ended(path)[:2] == ("error", cause)
    assert crawled.tasks[path].attempts == crawled.site.asked.count(path) == 1
    [noted] = crawled.noted(path)
    assert noted.context["cause"] == cause


def test_one_url_is_one_page_however_many_are_led_there(crawled: Crawled) -> None:
    """The first that is led there keeps it, and the others are redirected to what the run has."""
    ends = Counter(crawled.ended(f"/led-{number}")[:2] for number in range(1, 5))
    assert ends == {("finished", "stored"): 1, ("finished", "redirected"): 3}
    assert crawled.site.asked.count("/the-one") == 1


def test_a_redirect_that_never_ends_is_given_up(crawled: Crawled) -> None:
    """Once; it would be the same the next time."""
    status, cause, _ = crawled.ended("/loop")
    assert (status, cause, crawled.tasks["/loop"].attempts) == ("error", "redirect_loop", 1)


def test_a_redirect_to_a_login_closes_what_is_behind_it(crawled: Crawled) -> None:
    """Learnt once, told with the lines that make it permanent, and kept for those who go on."""
    assert crawled.ended("/account") == ("error", "filtered", "filtered by path rules")
    assert not [path for path in crawled.site.asked if path.startswith(("/auth", "/account/"))]
    assert crawled.log.count("run.login_found") == 1
    assert "/account/**" in crawled.log


def test_the_run_is_shown_as_the_contract_says(crawled: Crawled) -> None:
    """`vitrine runs show --json`, the report, and the list agree with the tables."""
    shown = json.loads(crawled.home.vitrine("runs", "show", str(crawled.run.id), "--json").stdout)
    by_status = Counter(task.status for task in crawled.tasks.values())
    assert shown["tasks"] == {"pending": 0, "in_progress": 0, **by_status}
    assert (shown["id"], shown["source"], shown["status"]) == (crawled.run.id, "odd", "completed")
    assert shown["started_at"] < shown["completed_at"]
    assert shown["assets"]["page"]["new"] == shown["outcomes"]["stored"] - 1  # the PDF is no page of text
    assert shown["exceptions_open"] == len(crawled.exceptions)
    assert shown["pages"]["stored"] == sum(row.status == "ok" for row in crawled.pages)
    assert '    "/account/**",  # led to the login /auth/login' in shown["permanent_lines"]
    assert_reported(crawled, shown)


def assert_reported(crawled: Crawled, shown: dict[str, Any]) -> None:
    """The end of the run has written the same down, for machines and for people."""
    written = json.loads((crawled.home.path / "reports" / "run-1.json").read_text(encoding="utf-8"))
    assert {name: shown[name] for name in written} == written
    told = crawled.home.vitrine("runs", "report", "odd").stdout
    assert told.startswith(f"# Run {crawled.run.id} of odd: completed")
    assert "| `http_error` | 2 |" in told
    [listed] = json.loads(crawled.home.vitrine("runs", "list", "--json").stdout)["runs"]
    assert listed["tasks"] == shown["tasks"]
