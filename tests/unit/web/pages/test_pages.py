"""Pages for people: they answer, load nothing from elsewhere, and take nothing for markup."""

from __future__ import annotations

import csv
import io
import platform
import re
from html import unescape
from typing import TYPE_CHECKING

from crawler import __version__
from crawler.db.revisions import HEAD
from tests.unit.archive.captured import SHOP, day
from tests.unit.archive.stored import index_pages, keep
from tests.unit.web.pages.conftest import HOSTILE

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served

PEOPLE = {"Accept": "text/html"}
PUBLIC = ("/", "/search", "/search?q=beech", "/sites", "/sites/shop.example", "/snapshots/1", "/-/",
          "/-/patterns", "/-/keyboard", "/admin/login")  # fmt: skip


def test_an_empty_installation_says_what_to_do(served: Served) -> None:
    """On every page."""
    assert "vitrine demo" in served.get("/").text
    assert "vitrine snapshots index" in served.get("/search").text
    assert "vitrine crawl pdp" in served.get("/sites").text


def test_pages_load_nothing_from_elsewhere(filled: Served) -> None:
    """What a browser would fetch is served here, and there is no script or style in the page itself."""
    for path in PUBLIC:
        answer = filled.get(path, headers=PEOPLE)
        assert (path, answer.status_code) == (path, 200)
        assert answer.text.count("<h1") == 1
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]*)"', answer.text)
        assert fetched
        assert all(address.startswith("/static/") for address in fetched)
        assert not re.search(r"<style|style=|\son\w+=|javascript:", answer.text)
        assert len(answer.text) < 60_000


def test_static_files_are_kept_for_as_long_as_they_are_the_same(served: Served) -> None:
    """Under their digest; nothing else of the package can be had."""
    [address] = re.findall(r'href="(/static/vitrine.css[^"]*)"', served.get("/").text)
    answer = served.get(address)
    assert "immutable" in answer.headers["cache-control"]
    again = served.get(address, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for other in ("nothing.css", "..%2fapp.py", "base.html", "%2e%2e", "vitrine.css/", "%00"):
        assert served.get(f"/static/{other}").status_code in {404, 422}


def test_nothing_that_was_captured_is_markup(filled: Served) -> None:
    """Titles, URLs and queries are text, and no template."""
    for path in ("/search?q=beech", "/sites/shop.example", f"/search?q={HOSTILE}"):
        assert "<script>alert" not in filled.get(path).text
    shown = filled.get("/snapshots/1").text + filled.get("/snapshots/2").text
    assert "<script>alert" not in shown
    assert "{{ 7*7 }}" in shown


def test_a_search_has_its_document_and_its_list(filled: Served) -> None:
    """As JSON what the API says, as CSV what no spreadsheet takes for a formula."""
    keep(filled.database, filled.blobs, "<title>=cmd()</title><p>A beech.", f"{SHOP}formula")
    index_pages(filled.database, filled.blobs)
    found = filled.get("/search.json?q=beech").json()
    assert found["total"] == filled.get("/api/search?q=beech").json()["total"] == 3
    answer = filled.get("/search.csv?q=beech")
    assert answer.headers["content-disposition"] == 'attachment; filename="search.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {row["url"] for row in rows} == {hit["original_url"] for hit in found["results"]}
    assert "'=cmd()" in {row["title"] for row in rows}
    assert filled.get("/index.json").json()["stats"]["snapshots_total"] == 3
    page = filled.get("/search?q=beech").text
    assert "<mark>beech</mark>" in page
    assert 'href="/search.csv?q=beech"' in page
    nothing = filled.get("/search?q=beech&from=2030-01-01&source=shop.example").text
    assert "No page was found" in nothing
    assert 'href="/search?q=beech&amp;source=shop.example"' in nothing


def test_hits_are_counted_by_site_and_year(filled: Served) -> None:
    """Each count is what the address behind it finds; of pages years are not counted."""
    elsewhere, old = "https://other.example/", day(3).replace(year=2019)
    keep(filled.database, filled.blobs, "<p>A beech.", elsewhere, at=day(3), domain="other.example")
    keep(filled.database, filled.blobs, "<p>A beech of old.", SHOP, at=old)
    index_pages(filled.database, filled.blobs)
    for question in ("?q=beech", "?q=beech&view=pages", ""):
        page = filled.get(f"/search{question}").text
        parts = re.findall(r'class="chip" href="(/search[^"]*)">([^<]+) <span class="count">(\d+)<', page)
        assert {"other.example", "shop.example"} <= {label for _, label, _ in parts}
        for address, _, count in parts:
            path, _, query = unescape(address).partition("?")
            found = filled.get(f"{path}.json?{query}").json()
            assert (address, found["total"]) == (address, int(count))
    assert ">2019 <" in filled.get("/search?q=beech").text
    assert 'aria-label="Years"' not in filled.get("/search?q=beech&view=pages").text


def test_a_form_is_never_answered_with_an_error(filled: Served) -> None:
    """What cannot be understood is left out, with a remark."""
    for query in ("from=yesterday", "from=2026-05-02&to=2026-05-01", "page=x", "page=99999999999999999999",
                  "view=odd", "sort=odd", "source=Ü", "q=" + "a" * 300, "from=0000-00-00"):  # fmt: skip
        assert (query, filled.get(f"/search?{query}").status_code) == (query, 200)
    assert "a bracket is not closed" in filled.get("/search?q=(beech").text
    assert "is no day" in filled.get("/search?from=yesterday").text


def test_a_site_has_its_pages(filled: Served) -> None:
    """As the list says how many; a page past the end is empty, and an unknown site is not there."""
    [listed] = filled.get("/sites.json").json()
    assert (listed["source_code"], listed["record_count"]) == ("shop.example", 2)
    found = filled.get("/sites/shop.example.json").json()
    assert (found["pages_total"], len(found["pages"])) == (2, 2)
    assert filled.get("/sites/SHOP.example.json").json()["source"] == found["source"]
    assert filled.get("/sites/shop.example.json?page=99999").json()["pages"] == []
    assert filled.get("/sites/shop.example.json?page=x").json() == found
    assert filled.get("/sites.csv").text.splitlines()[0] == "source,name,snapshots,first,last"
    for name in ("other.example", "%25", "shop.example%20", "x" * 1_000, "%3Cscript%3E", "_"):
        answer = filled.get(f"/sites/{name}", headers=PEOPLE)
        assert (name, answer.status_code) == (name, 404)
        assert "<script>" not in answer.text.replace('<script type="module"', "")


def test_changes_are_shown_by_day_and_side_by_side(shop: Served) -> None:
    """A diff says what it compares; in the calendar only days with a change lead to one."""
    page = shop.get("/changes", headers=PEOPLE).text
    for said in ("Saturday, 02 May 2026", 'href="/diff/1/2"', "application/atom+xml"):
        assert said in page
    narrow = shop.get("/changes?from=2027-01-01&source=shop.example", headers=PEOPLE).text
    assert "Nothing changed" in narrow
    assert shop.get("/changes?from=soon&source=nowhere&page=x", headers=PEOPLE).status_code == 200
    diff = shop.get("/diff/1/2", headers=PEOPLE).text
    for said in (
        '<del data-change tabindex="-1">', "Price &amp; more", 'href="/web/20260501120000/https://shop.example/"'
    ):  # fmt: skip
        assert said in diff
    assert "<script>" not in diff.replace('<script type="module"', "")
    calendar = shop.get(f"/web/*/{SHOP}", headers=PEOPLE).text
    assert '<a href="/diff/1/2">1 section changed; 0 added; 0 removed</a>' in calendar
    assert 'href="/diff/2/3"' not in calendar
    assert shop.get("/diff/1/2.json").json()["change_type"] == "updated"
    assert "A reader sees the same" in shop.get("/diff/2/3", headers=PEOPLE).text
    assert shop.get("/diff/1/4", headers=PEOPLE).status_code == 400
    assert shop.get("/diff/1/99", headers=PEOPLE).status_code == 404
    assert shop.get("/diff?from=1&to=3").headers["Location"] == "/diff/1/3"
    assert shop.get("/changes.csv").text.startswith("change_id,")


def test_the_page_of_the_system_has_no_secret(serve: Serve) -> None:
    """Versions and settings, no place of this machine and no token."""
    served = serve(admin_token="canary-token", web_read_only=True, replay_base_url="https://replay.example/")
    found = served.client.get("/-/system.json", headers={"Host": "replay.example"}).json()
    assert (found["version"], found["python"]) == (__version__, platform.python_version())
    assert (found["database_revision"], found["database_answers"]) == (HEAD, True)
    assert (found["read_only"], found["replay_origin"]) == (True, "https://replay.example")
    assert "scrapy" in found["libraries"]
    assert "canary-token" not in str(found)
    assert str(served.stores.settings.vitrine_home) not in str(found)
