"""`/web/`: frames, contents, TimeGate, TimeMaps, the calendar, the CDX server, and what is not there."""

from __future__ import annotations

import json
from datetime import timedelta
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from sqlalchemy import select, update

from crawler.clock import utc_now
from crawler.db.models import Artifact, Record
from crawler.retention.holds import Target, note_action
from crawler.retention.purge import PurgeOrder, purge
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.archive.stored import index_pages, keep

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.web.conftest import Serve, Served

SANDBOX = "sandbox allow-top-navigation-by-user-activation; default-src 'none'"
PEOPLE = {"Accept": "text/html"}
PAGE = "<title>Shop</title><link rel=stylesheet href=/s.css><p>Day {}<form></form><a href=/p?id=2>next</a>"


def fill(served: Served, folder: Path) -> None:
    """The shop on three days, with a style and a file."""
    record(
        served.database, folder / "warcs",
        *(exchange(SHOP, PAGE.format(number), day(number)) for number in (1, 3, 9)),
        exchange(f"{SHOP}p?id=2&token=abc", "<p>A product", day(3)),
        exchange(f"{SHOP}doc.pdf", b"%PDF-1.4", day(3), kind="application/pdf"),
        exchange(f"{SHOP}old", "", day(3), status=301, Location="/"),
        exchange(f"{SHOP}%2Fa//b", "<p>slashes", day(3)),
    )  # fmt: skip


@pytest.fixture
def shop(served: Served, tmp_path: Path) -> Served:
    """A server that has some captures."""
    fill(served, tmp_path)
    return served


def test_the_frame_says_which_capture_it_is(shop: Served) -> None:
    """How far it is from what was asked for, what is before and behind it, and what is missing."""
    answer = shop.get(f"/web/20260504/{SHOP}", headers=PEOPLE)
    assert answer.status_code == 200
    assert "Captured <time" in answer.text
    assert "12 hours earlier than" in answer.text
    assert f'src="/web/20260503120000mp_/{SHOP}"' in answer.text
    assert 'sandbox="allow-top-navigation-by-user-activation"' in answer.text
    assert f'rel="prev" href="/web/20260501120000/{SHOP}"' in answer.text
    assert f'rel="next" href="/web/20260509120000/{SHOP}"' in answer.text
    assert "1 missing, 1 form disabled" in answer.text
    assert f"{SHOP}s.css" in answer.text
    assert answer.headers["Memento-Datetime"] == "Sun, 03 May 2026 12:00:00 GMT"
    assert 'rel="first prev memento"' in answer.headers["Link"]
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    exact = shop.get(f"/web/20260503120000/{SHOP}", headers=PEOPLE).text
    assert "nearest capture" not in exact


def test_content_can_do_nothing_by_its_own_headers(shop: Served) -> None:
    """Whoever opens it without its frame is as safe."""
    answer = shop.get(f"/web/20260503120000mp_/{SHOP}")
    assert answer.headers["Content-Security-Policy"].startswith(SANDBOX)
    assert "Set-Cookie" not in answer.headers
    assert f'href="{shop.address}/web/20260503120000/{SHOP}p?id=2"' in answer.text
    assert answer.headers["ETag"]
    again = shop.get(f"/web/20260503120000mp_/{SHOP}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = shop.client.head(f"/web/20260503120000mp_/{SHOP}")
    assert (head.status_code, head.content) == (200, b"")


def test_addresses_are_read_as_they_were_sent(shop: Served) -> None:
    """Escaped slashes, doubled ones, queries, one slash too few."""
    assert "slashes" in shop.get(f"/web/2026id_/{SHOP}%2Fa//b").text
    assert "A product" in shop.get(f"/web/2026mp_/{SHOP}p?id=2&token=abc").text
    assert shop.get("/web/20260503mp_/https:/shop.example/").status_code == 200
    assert shop.get("/web/20260503mp_//shop.example/").status_code == 200
    for bad in (
        "/web/123/http://a.example/",
        "/web/12345678901234567/http://a.example/",
        "/web/2026xx_/http://a/",
        "/web/20261301/http://a/",
        f"/web/20260532mp_/{SHOP}",
    ):
        assert shop.get(bad).status_code == 400
    assert shop.get("/web/2026/javascript:alert(1)").status_code == 400
    assert shop.get(f"/web/2026mp_/{SHOP}{'a' * 8_000}").status_code == 404
    framed = shop.get(f"/web/2026/{SHOP}p?id=2&token=abc", headers=PEOPLE).text
    assert f'src="/web/20260503120000mp_/{SHOP}p?id=2&amp;token=abc"' in framed


def test_the_timegate(shop: Served) -> None:
    """Leads to the capture that is nearest to the accepted time, and to the newest without one."""
    asked = {"Accept-Datetime": "Sat, 02 May 2026 00:00:01 GMT"}
    answer = shop.get(f"/web/{SHOP}", headers=asked)
    assert (answer.status_code, answer.headers["Vary"]) == (302, "accept-datetime")
    assert answer.headers["Location"] == f"/web/20260501120000/{SHOP}"
    assert f'<{SHOP}>; rel="original"' in answer.headers["Link"]
    assert shop.get(f"/web/{SHOP}").headers["Location"] == f"/web/20260509120000/{SHOP}"
    assert shop.get(f"/web/{SHOP}", headers={"Accept-Datetime": "soon"}).status_code == 400
    assert shop.get("/web/http://never.example/").status_code == 404


def test_timemaps(shop: Served) -> None:
    """In each form, with every capture."""
    links = shop.get(f"/web/timemap/link/{SHOP}")
    assert links.headers["Content-Type"].startswith("application/link-format")
    assert links.text.count("memento") == 3
    assert f"<{shop.address}/web/20260503120000/{SHOP}>" in links.text
    lines = shop.get(f"/web/timemap/json/{SHOP}").text.splitlines()
    assert [json.loads(line)["timestamp"] for line in lines] == [
        "20260501120000",
        "20260503120000",
        "20260509120000",
    ]
    assert shop.get(f"/web/timemap/cdxj/{SHOP}").text.startswith("example,shop)/ 20260501120000 {")
    assert shop.get("/web/timemap/link/http://never.example/").status_code == 404


def test_the_cdx_server(shop: Served) -> None:
    """Answers in pages; what it does not take is told."""
    first = shop.get(
        "/web/cdx", params={"url": "shop.example", "matchType": "domain", "limit": 4, "output": "json"}
    )
    assert len(first.text.splitlines()) == 4
    rest = shop.get(first.headers["Link"].split(">")[0].removeprefix("<"))
    assert len(rest.text.splitlines()) == 3
    assert "Link" not in rest.headers
    assert shop.get("/web/cdx", params={"url": SHOP, "fields": "timestamp,status"}).text.splitlines()[0] == (
        "20260501120000 200"
    )
    for bad in ({}, {"url": SHOP, "limit": 10**6}, {"url": SHOP, "sort": "x"}, {"url": SHOP, "from": "May"}):
        assert shop.get("/web/cdx", params=bad).status_code == 422
    assert shop.get("/web/cdx", params={"url": SHOP, "filter": "~url:(a+)+"}).status_code == 400
    assert shop.get("/web/cdx", params={"url": SHOP, "resumeKey": "x"}).status_code == 400


def test_the_calendar(shop: Served) -> None:
    """All captures of a year, each a link."""
    answer = shop.get(f"/web/*/{SHOP}", headers=PEOPLE)
    assert "3 captures, from" in answer.text
    assert f'href="/web/20260503120000/{SHOP}"' in answer.text
    assert "May 2026" in answer.text
    assert shop.get("/web/*/https://never.example/", headers=PEOPLE).status_code == 404
    assert (
        shop.get("/web/", params={"url": "shop.example"}).headers["Location"] == "/web/*/http://shop.example"
    )
    assert shop.get("/web/", headers=PEOPLE).status_code == 200


def test_a_redirect_is_followed_by_the_frame(shop: Served) -> None:
    """So that the frame names the page that is in it."""
    answer = shop.get(f"/web/20260503/{SHOP}old", headers=PEOPLE)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/web/20260503120000/{SHOP}")


def test_what_is_no_page_is_saved(shop: Served) -> None:
    """The frame says so."""
    answer = shop.get(f"/web/2026/{SHOP}doc.pdf", headers=PEOPLE)
    assert "This cannot be shown here" in answer.text
    assert "<iframe" not in answer.text


def test_a_command_that_is_there_to_be_copied_does_nothing_else(shop: Served) -> None:
    """Whoever made the address, a shell takes it for one."""
    address = f"/web/2026/{SHOP}a;id>$(x)"
    assert shop.get(address).json()["hint"] == f"vitrine crawl site '{SHOP}a;id%3E$(x)'"
    shown = unescape(shop.get(address, headers=PEOPLE).text)
    assert f"vitrine crawl site '{SHOP}a;id%3E$(x)'</pre>" in shown


def test_what_is_not_there(shop: Served) -> None:
    """404 with what is near it, 410 with its tombstone; for people and for programs."""
    answer = shop.get(f"/web/2026/{SHOP}never", headers=PEOPLE)
    assert answer.status_code == 404
    assert f'href="/web/20260509120000/{SHOP}"' in answer.text
    assert (
        f"vitrine crawl site {SHOP}never" in shop.get("/web/2026/https://shop.example/never").json()["hint"]
    )
    with shop.database.write() as db:
        db.execute(update(Record).where(Record.captured_at == day(3)).values(gone_at=utc_now()))
    gone = shop.get(f"/web/20260503120000/{SHOP}", headers=PEOPLE)
    assert gone.status_code == 410
    assert "erased" in gone.text
    assert "sha256:" in gone.text
    assert f'href="/web/20260501120000/{SHOP}"' in gone.text
    inside = shop.get(f"/web/20260503120000mp_/{SHOP}", headers=PEOPLE)
    assert (inside.status_code, inside.headers["Content-Type"]) == (410, "text/html; charset=utf-8")
    assert inside.headers["Content-Security-Policy"].startswith("sandbox")
    told = shop.get(f"/web/20260503120000id_/{SHOP}")
    assert (told.status_code, told.json()["code"]) == (410, "capture_gone")
    assert told.headers["Content-Security-Policy"].startswith("sandbox")


def test_the_first_and_the_last_times_there_are(shop: Served) -> None:
    """Are times like others: the nearest capture is shown."""
    for time in ("0000", "9999", "99991231235959"):
        for path in (
            f"/web/{time}mp_/{SHOP}",
            f"/web/{time}id_/{SHOP}",
            f"/web/cdx?url={SHOP}&closest={time}",
        ):
            assert (path, shop.get(path).status_code) == (path, 200)


def purged(served: Served, target: Target, reports: Path) -> None:
    """Take everything of a domain or a session out."""
    order = PurgeOrder(target, with_prices=True, who="x", before=utc_now(), reports=reports)
    purge(served.database, served.blobs, order)


def test_what_a_purge_took_is_told_by_its_domain(shop: Served, tmp_path: Path) -> None:
    """Every URL there is answered alike, captured or not: of single pages no trace is left."""
    purged(shop, Target(domain="shop.example"), tmp_path)
    for url in (SHOP, "http://www.shop.example/never", f"{SHOP}p?id=2&token=abc"):
        for path in (f"/web/20260503120000/{url}", f"/web/20260503120000mp_/{url}", f"/web/*/{url}"):
            answer = shop.get(path, headers=PEOPLE)
            assert (path, answer.status_code, "site was purged" in answer.text) == (path, 410, True)
            assert "sha256" not in answer.text
        for form in (f"/web/{url}", f"/web/timemap/link/{url}"):
            told = shop.get(form)
            assert (told.status_code, told.json()["code"]) == (410, "purged")
    assert not shop.get("/web/cdx", params={"url": SHOP}).text
    assert shop.get("/web/2026/https://other.shop.example/").status_code == 404


def test_a_page_that_is_captured_after_a_purge_is_shown(shop: Served, tmp_path: Path) -> None:
    """It is there; what lies beside it is still told as purged, with the way to what there is."""
    purged(shop, Target(domain="shop.example"), tmp_path)
    record(shop.database, tmp_path / "later", exchange(SHOP, PAGE.format(20), day(20)))
    assert shop.get(f"/web/20260503120000/{SHOP}", headers=PEOPLE).status_code == 200
    beside = shop.get(f"/web/2026/{SHOP}p?id=2", headers=PEOPLE)
    assert (beside.status_code, f"/web/20260520120000/{SHOP}" in beside.text) == (410, True)


def test_a_purge_that_took_nothing_is_not_told(served: Served, tmp_path: Path) -> None:
    """Of a domain that never was here, or of which all is there still."""
    purged(served, Target(domain="shop.example"), tmp_path)
    with served.database.write() as db:
        note_action(db, "purge", "domain other.example", actor="x", now=db.now, state="begun", pages=3)
    for url in (SHOP, "https://other.example/"):
        assert served.get(f"/web/2026/{url}").status_code == 404


def test_what_the_purge_of_a_session_took_leaves_no_trace(served: Served) -> None:
    """It is answered as what was never captured, and the page says that it can be either."""
    key = keep(served.database, served.blobs, PAGE.format(3), SHOP, at=day(3))
    with served.database.read() as db:
        session = db.scalars(select(Artifact.session_id).where(Artifact.id == key)).one()
    index_pages(served.database, served.blobs)
    assert served.get(f"/web/2026/{SHOP}", headers=PEOPLE).status_code == 200
    purged(served, Target(session_id=session), served.stores.settings.vitrine_home)
    answer = served.get(f"/web/2026/{SHOP}", headers=PEOPLE)
    assert (answer.status_code, "was purged: that leaves nothing" in answer.text) == (404, True)


def test_content_on_its_own_origin(serve: Serve, tmp_path: Path) -> None:
    """Is served there alone, and nothing else is; its pages lead back to the frames."""
    served = serve()
    port = served.address.rpartition(":")[2]
    own = serve(replay_base_url=f"http://127.0.0.1:{port}", public_hosts="localhost,127.0.0.1")
    del served
    fill(own, tmp_path)
    assert own.stores.settings.pages_origin == f"http://localhost:{port}"
    here = {"Host": f"127.0.0.1:{port}"}
    inside = own.get(f"/web/20260503120000mp_/{SHOP}", headers=here)
    assert inside.status_code == 200
    assert f'href="http://localhost:{port}/web/20260503120000/{SHOP}p?id=2"' in inside.text
    for path in (
        "/",
        "/api/health",
        f"/web/2026/{SHOP}",
        f"/web/*/{SHOP}",
        "/web/cdx?url=x",
        "/static/vitrine.css",
    ):
        assert own.get(path, headers=here).status_code == 404, path
    frames = {"Host": f"localhost:{port}"}
    outside = own.get(f"/web/20260503120000mp_/{SHOP}", headers=frames)
    assert outside.headers["Location"] == f"http://127.0.0.1:{port}/web/20260503120000mp_/{SHOP}"
    frame = own.get(f"/web/20260503120000/{SHOP}", headers={**frames, **PEOPLE})
    assert f'src="http://127.0.0.1:{port}/web/20260503120000mp_/{SHOP}"' in frame.text
    assert f"frame-src 'self' http://127.0.0.1:{port}" in frame.headers["Content-Security-Policy"]


def test_a_page_that_a_dead_cleaner_had_claimed_is_shown(served: Served) -> None:
    """While the claim holds it counts as deleted for every reader; afterwards every reader has it again."""
    key = keep(served.database, served.blobs, "<title>Shop</title><p>Here", SHOP)
    index_pages(served.database, served.blobs)
    [hit] = served.get("/api/search?q=here").json()["results"]
    doors = (f"/web/{SHOP}", hit["rawSnapshotUrl"])
    for until, answers in ((timedelta(minutes=5), (410, 404)), (timedelta(minutes=-5), (200, 200))):
        with served.database.write() as db:
            artifact = db.get_one(Artifact, key)
            artifact.cleanup_claim, artifact.cleanup_claimed_until = "another|boot|1|2|3#1", db.now + until
        found = tuple(served.client.get(door, follow_redirects=True).status_code for door in doors)
        assert (until, found) == (until, answers)


def test_an_address_that_is_not_ascii_is_shown(served: Served) -> None:
    """Archives of others have such ones; the headers spell them out, and nothing ends a header early."""
    for name in ("größe", "\u786c\u5b50", "a\u202eb"):
        url = f"{SHOP}{name}"
        keep(served.database, served.blobs, f"<title>{name}</title><p>{name}", url, at=day(1))
        index_pages(served.database, served.blobs)
        for form in ("", "mp_", "id_"):
            answer = served.get(f"/web/20260501120000{form}/{SHOP}{quote(name)}", headers=PEOPLE)
            assert (name, form, answer.status_code) == (name, form, 200)
            assert f"{SHOP}{quote(name)}>" in answer.headers["Link"]
