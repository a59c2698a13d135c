"""How URLs are stored, and where a session goes on whose start page leads to another site."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import with_status
from tests.e2e.test_interruptions import HELD_UP, write_urls
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


def log_of(home: Home, session: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The details of the events in a session's log."""
    shown = json.loads(home.vitrine("sessions", "show", session["id"], "--json").stdout)
    return {line["message"]: line["details"] for line in shown["log"]}


def test_a_url_is_stored_in_one_spelling(home: Home, shops: DemoServer) -> None:
    """SPEC F160: what was given is in the log."""
    url = shops.url("plain")
    given = url.replace("http://", "HTTP://") + "#top"
    file = write_urls(home.path.parent / "urls.txt", [given, url])
    [session] = home.crawl("--urls", str(file))
    assert session["status"] == "completed"
    assert session["url"] == url
    assert {page["url"].partition("#")[2] for page in session["pages"]} == {""}
    started = log_of(home, session)["session.start"]
    assert (started["url"], started["given"]) == (url, given)
    [again] = home.crawl(url)
    assert "given" not in log_of(home, again)["session.start"]


def test_a_session_goes_on_where_its_start_page_led(home: Home, shops: DemoServer) -> None:
    """Under that domain's lock; its listing belongs there, and its pages carry a doubt."""
    away, there = shops.url("redirect-away"), shops.domain("plain")
    [session] = home.crawl(away)
    assert (session["status"], session["url"], session["domain"]) == (
        "completed", away, shops.domain("redirect-away"),
    )  # fmt: skip
    assert session["low_confidence"]
    assert {page["page_type"] for page in session["pages"]} == {"homepage", "pdp"}
    assert all("left_site" in page["low_confidence_reasons"] for page in session["pages"])
    listed = json.loads(home.vitrine("listings", "list", "--json").stdout)["listings"]
    assert [listing["domain"] for listing in listed] == [there]
    shown = json.loads(home.vitrine("sessions", "show", session["id"], "--json").stdout)
    taken = [line["details"] for line in shown["log"] if line["message"] == "lock.acquire.success"]
    assert there in [details["domain"] for details in taken]
    [own] = home.crawl(shops.url("plain"))
    assert not [page for page in own["pages"] if "left_site" in page["low_confidence_reasons"]]


@pytest.mark.soak(minutes=10)
def test_a_start_page_that_leads_to_a_held_domain_fails(
    home: Home, shops: DemoServer, endings: list[subprocess.Popen[str]]
) -> None:
    """Nobody comes to a domain without its lock, redirected or not."""
    shops.forget()
    process = home.start_scrapy("crawl", "pdp", "-a", f"url={shops.url('plain')}", *HELD_UP)
    endings.append(process)
    wait_for(lambda: with_status(home, "running"))
    [session] = home.crawl(shops.url("redirect-away"))
    assert (session["status"], session["cause"]) == ("failed", "domain_held")
