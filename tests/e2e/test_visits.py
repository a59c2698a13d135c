"""One crawl of every shop that the demo has: how each visit ends, and what it leaves behind."""

from __future__ import annotations

import hashlib
import json
import socket
import zlib
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from crawler.capture.failures import Summary
from crawler.demo import SHOPS
from crawler.evidence.blobs import MARK
from tests.e2e.conftest import Home

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer

PARTLY = 3
# Why a visit ends as it does, beside its summary.
CAUSES = {
    "hub": "no_valid_candidate",
    "no-links": "no_valid_candidate",
    "script-only": "no_valid_candidate",
    "robots-forbids": "robots_refused",
    "robots-500": "robots_unavailable",
    "404": "http_error",
    "403": "blocked",
    "429": "rate_limited",
    "429-bare": "rate_limited",
    "503": "blocked",
    "redirect-loop": "redirect_loop",
    "bot-block": "bot_block",
    "truncated": "truncated",
    "empty": "empty_page",
    "binary": "not_html",
    "endless": "too_large",
    "gzip-bomb": "too_large",
    "reset": "connection_failed",
}
CONTRACT = {
    "id", "url", "domain", "status", "mode", "error_summary", "cause", "crawl_policy_version", "pdp_url",
    "low_confidence", "created_at", "finished_at", "pages", "artifacts",
}  # fmt: skip
PAGE_CONTRACT = {"page_type", "viewport", "status", "url", "low_confidence_reasons"}
ARTIFACT_CONTRACT = {
    "id", "type", "storage_uri", "size_bytes", "checksum", "content_sha256", "retention_until", "deleted_at",
}  # fmt: skip


UNREACHABLE = {
    "http://no-such-host.invalid/": "unknown_host",
    "http://127.0.0.1:{closed}/": "connection_failed",
    "http://10.255.255.1/": "egress_refused",
    "http://[::1]:9/": "egress_refused",
    "htp:/what": "bad_url",
}
BAD_LINE = "htp:/what"


@pytest.fixture(scope="module")
def crawled(shops: DemoServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, dict[str, Any]]:
    """Every shop, and some addresses where nobody is, in one file of URLs; the sessions by shop or cause."""
    folder = tmp_path_factory.mktemp("crawled")
    home = Home(folder / "home", {"SESSIONS_AT_ONCE": "48"})
    shops.forget()
    names = {shops.url(name, "/?after=100" if name == "429" else "/"): name for name in SHOPS}
    # one after the other, because the second leads to a domain that the first crawl visits
    away = shops.url("redirect-away")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        names |= {url.format(closed=closed.getsockname()[1]): url for url in UNREACHABLE}
        given = [url for url in names if url not in {away, BAD_LINE}]
        given[0] = given[0].replace("http://", "HTTP://") + "#top"
        file = folder / "urls.txt"
        file.write_text("\n".join(["# shops", "", BAD_LINE, given[1], *given]), encoding="utf-8")
        done = home.vitrine(
            "crawl", "pdp", "--json", "-s", "DOWNLOAD_DELAY=0", "--urls", str(file), timeout=180
        )
    assert "line=3" in done.stderr
    assert done.returncode == PARTLY
    sessions = json.loads(done.stdout)["sessions"] + home.crawl(away)
    return home, {names[session["url"]]: session for session in sessions}


def log_of(crawled: tuple[Home, dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The lines of a session's log."""
    home, sessions = crawled
    shown = json.loads(home.vitrine("sessions", "show", sessions[name]["id"], "--json").stdout)
    return list(shown["log"])


@pytest.mark.parametrize("name", SHOPS)
def test_a_visit_ends_as_its_shop_is_meant_to(crawled: tuple[Home, dict[str, Any]], name: str) -> None:
    """Status, summary and cause say what happened; a summary is always one of the listed ones."""
    session, shop = crawled[1][name], SHOPS[name]
    assert session["status"] == shop.status
    assert session["cause"] == CAUSES.get(name)
    assert session["error_summary"] in {None, *Summary}
    if shop.summary:
        assert session["error_summary"].startswith(shop.summary)
    assert (session["pdp_url"] is not None) == (shop.status == "completed")


def test_a_session_has_the_fields_of_the_contract(crawled: tuple[Home, dict[str, Any]]) -> None:
    """`sessions show ID --json` carries what other programs rely on, and the log."""
    home, sessions = crawled
    shown = json.loads(home.vitrine("sessions", "show", sessions["plain"]["id"], "--json").stdout)
    assert shown.keys() >= CONTRACT | {"log"}
    assert all(page.keys() >= PAGE_CONTRACT for page in shown["pages"])
    assert all(artifact.keys() >= ARTIFACT_CONTRACT for artifact in shown["artifacts"])
    assert [page["page_type"] for page in shown["pages"]] == ["homepage", "pdp"]
    assert shown["config_snapshot"]["HTML_RETENTION_DAYS"] == "14"


def test_artifacts_are_what_their_rows_say(crawled: tuple[Home, dict[str, Any]]) -> None:
    """Each row has its file with its size and digests, and each file has its row (SPEC F143, F144)."""
    home, sessions = crawled
    rows = [artifact for session in sessions.values() for artifact in session["artifacts"]]
    assert {row["storage_uri"] for row in rows} == home.files()
    for row in rows:
        data = (home.artifacts / row["storage_uri"]).read_bytes()
        content = zlib.decompress(data, 31) if row["type"] == "html_gz" else data
        assert row["size_bytes"] == len(data)
        assert row["checksum"] == hashlib.sha256(data).hexdigest()
        assert row["content_sha256"] == hashlib.sha256(content).hexdigest()


def test_html_goes_after_fourteen_days_and_nothing_else_does(crawled: tuple[Home, dict[str, Any]]) -> None:
    """`retention_until` is set for html_gz alone (SPEC B40, B42)."""
    for session in crawled[1].values():
        for artifact in session["artifacts"]:
            until, created = artifact["retention_until"], datetime.fromisoformat(artifact["created_at"])
            if artifact["type"] == "html_gz":
                assert datetime.fromisoformat(until) - created == timedelta(days=14)
            else:
                assert until is None


def test_every_session_exports_its_log(crawled: tuple[Home, dict[str, Any]]) -> None:
    """Failed ones too: one JSON object a line, in order of time, the same as the rows (SPEC F145)."""
    home, sessions = crawled
    for name in ("plain", "403", "robots-forbids"):
        shown = json.loads(home.vitrine("sessions", "show", sessions[name]["id"], "--json").stdout)
        [export] = [a for a in shown["artifacts"] if a["type"] == "session_logs_jsonl"]
        lines = (home.artifacts / export["storage_uri"]).read_text().splitlines()
        exported = [json.loads(line) for line in lines]
        assert [line["message"] for line in exported] == [line["message"] for line in shown["log"]]
        assert [line["timestamp"] for line in exported] == sorted(line["timestamp"] for line in exported)
        assert exported[-1]["message"] == "lock.release.success"


def test_lock_events_carry_session_and_domain(crawled: tuple[Home, dict[str, Any]]) -> None:
    """The documented events are in each session's log, with both fields."""
    session = crawled[1]["plain"]
    locks = [line for line in log_of(crawled, "plain") if line["message"].startswith("lock.")]
    assert [line["message"] for line in locks] == ["lock.acquire.success", "lock.release.success"]
    for line in locks:
        named = line["details"]["session_id"], line["details"]["domain"]
        assert named == (session["id"], session["domain"])


@pytest.mark.parametrize("url", UNREACHABLE)
def test_an_address_where_nobody_is_is_a_failed_session(
    crawled: tuple[Home, dict[str, Any]], url: str
) -> None:
    """With its cause; the others go on. A line of the file that is no URL is one of them."""
    session = crawled[1][url]
    assert (session["status"], session["cause"]) == ("failed", UNREACHABLE[url])


def test_a_url_is_stored_in_one_spelling(crawled: tuple[Home, dict[str, Any]], shops: DemoServer) -> None:
    """However it was given, and how often; what was given is in the log."""
    name = next(iter(SHOPS))
    session = crawled[1][name]
    assert session["url"] == shops.url(name)
    assert {page["url"].partition("#")[2] for page in session["pages"]} == {""}
    [started] = [line["details"] for line in log_of(crawled, name) if line["message"] == "session.start"]
    assert started["given"] == shops.url(name).replace("http://", "HTTP://") + "#top"


def test_a_session_goes_on_where_its_start_page_led(
    crawled: tuple[Home, dict[str, Any]], shops: DemoServer
) -> None:
    """Under that domain's lock; its pages carry a doubt, which those of other sessions do not."""
    session, there = crawled[1]["redirect-away"], shops.domain("plain")
    assert session["domain"] == shops.domain("redirect-away")
    assert {page["page_type"] for page in session["pages"]} == {"homepage", "pdp"}
    assert all("left_site" in page["low_confidence_reasons"] for page in session["pages"])
    lines = log_of(crawled, "redirect-away")
    taken = [line["details"]["domain"] for line in lines if line["message"] == "lock.acquire.success"]
    assert there in taken
    own = crawled[1]["plain"]["pages"]
    assert not [page for page in own if "left_site" in page["low_confidence_reasons"]]


def test_sites_are_visited_politely(crawled: tuple[Home, dict[str, Any]], shops: DemoServer) -> None:
    """One request at a time a shop, nothing that robots.txt forbids, and a name with a contact."""
    for name in SHOPS:
        seen = shops.log.entries(name)
        assert shops.log.peak(name) <= 1
        assert not [entry.path for entry in seen if entry.path.startswith("/members/")]
        assert all(entry.user_agent.startswith("Vitrine/") for entry in seen)
        assert all("https://vitrine.example/crawler" in entry.user_agent for entry in seen)


def test_a_site_that_forbids_everything_is_asked_for_robots_txt_only(
    crawled: tuple[Home, dict[str, Any]], shops: DemoServer
) -> None:
    """The refusal costs the site one request."""
    assert [entry.path for entry in shops.log.entries("robots-forbids")] == ["/robots.txt"]


def test_a_crawl_delay_spaces_the_requests(crawled: tuple[Home, dict[str, Any]], shops: DemoServer) -> None:
    """Two seconds that robots.txt asks for, though the crawl itself would not wait."""
    gaps = shops.log.gaps("crawl-delay")[1:]  # the first gap is the one after robots.txt itself
    assert gaps
    assert min(gaps) > 0.9  # Scrapy varies a delay by half


@pytest.mark.parametrize(
    ("name", "attempts"),
    [("503", 3), ("403", 3), ("429-bare", 3), ("truncated", 3), ("404", 1), ("bot-block", 2)],
)
def test_a_page_is_tried_again_where_that_may_help(
    crawled: tuple[Home, dict[str, Any]], shops: DemoServer, name: str, attempts: int
) -> None:
    """Three attempts for what may pass, one for what will not, one reload (SPEC F146, F148)."""
    assert [entry.path for entry in shops.log.entries(name)].count("/") == attempts


def test_a_retry_waits_longer_each_time(crawled: tuple[Home, dict[str, Any]], shops: DemoServer) -> None:
    """One second, then two, plus up to half a second each."""
    first, second, third = [entry for entry in shops.log.entries("403") if entry.path == "/"]
    assert second.at - first.ended >= 1.0
    assert third.at - second.ended >= 2.0


def test_facts_and_verdict_stand_in_the_features(crawled: tuple[Home, dict[str, Any]]) -> None:
    """features_json has what the page says and what the rule made of it (SPEC F158)."""
    home, sessions = crawled
    session = sessions["german"]
    [features] = [
        a for a in session["artifacts"] if a["type"] == "features_json" and "/pdp/" in a["storage_uri"]
    ]
    read = json.loads((home.artifacts / features["storage_uri"]).read_bytes())
    assert read["verdict"]["is_pdp"] is True
    assert read["facts"]["currency"] == "EUR"
    assert read["meta"]["title"]


def test_the_stored_page_is_judged_as_it_was(crawled: tuple[Home, dict[str, Any]]) -> None:
    """The rule comes to the same verdict on the kept file (content type and charset are kept)."""
    home, sessions = crawled
    stored = [
        str(home.artifacts / artifact["storage_uri"])
        for session in sessions.values()
        for artifact in session["artifacts"]
        if artifact["type"] == "html_gz"
    ]
    judged = home.vitrine("pdp", "check", "--jsonl", *stored).stdout.splitlines()
    verdicts = {line["file"]: line["is_pdp"] for line in map(json.loads, judged)}
    assert len(verdicts) == len(stored)
    assert {name for name, is_pdp in verdicts.items() if is_pdp} == {
        name for name in verdicts if "/pdp/" in name or "start-is-product" in _shop_of(name, sessions)
    }


def _shop_of(file: str, sessions: dict[str, Any]) -> str:
    return next(name for name, session in sessions.items() if session["id"] in file)


def test_no_half_file_is_left(crawled: tuple[Home, dict[str, Any]]) -> None:
    """What is written has a name only when it is whole."""
    home: Path = crawled[0].artifacts
    files = [file for file in home.rglob("*") if file.name != MARK]
    assert not [file for file in files if file.name.startswith(".") or file.suffix == ".part"]


def test_a_pause_that_a_site_asks_for_is_shown(
    crawled: tuple[Home, dict[str, Any]], shops: DemoServer
) -> None:
    """Retry-After on a 429: the session has ended, and the domain is left alone for as long."""
    listed = json.loads(crawled[0].vitrine("domains", "list", "--json").stdout)["domains"]
    [paused] = [each for each in listed if each["domain"] == shops.domain("429")]
    assert paused["delay_reason"] == "Retry-After"
    assert 0 < paused["delayed_for_ms"] <= 100_000
