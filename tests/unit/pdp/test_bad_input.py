"""Pages that nobody would write: each gets a verdict with a reason, soon and in little memory."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from crawler.html.visible import visible_text
from crawler.pdp import Verdict, judge, read_facts, read_page
from crawler.pdp.candidates import discover
from crawler.pdp.features import features
from crawler.pdp.verdict import READERS

SECONDS = 5.0
MEGABYTE = 1024 * 1024
SHOP = b'<h1>Cup</h1><img src="c.jpg"><p>$9.00</p><button>Add to cart</button>'


def read_all(body: bytes) -> Verdict:
    """Ask everything that can be asked of a page."""
    page = read_page(body, url="https://shop.example/p/1")
    verdict = judge(page)
    features(page, verdict, read_facts(page))
    discover(page)
    visible_text(page.tree)
    assert judge(page, "v1.3").policy == "v1.3"
    return verdict


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param(b"", "empty_page", id="empty"),
        pytest.param(b"\0" * 1000, "empty_page", id="only NUL"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "not_html", id="an image"),
        pytest.param(b"just some text", "not_html", id="plain text"),
        pytest.param(SHOP + b"<p>x</p>" * (50 * MEGABYTE // 8), "too_large", id="50 MB"),
        pytest.param(SHOP + b"<i>" * 500_000, "too_large", id="half a million tags"),
        pytest.param(SHOP + b"<div>" * 100_000, "too_deep", id="100,000 nested elements"),
        pytest.param(
            b"<div></x>" * 60_000 + b"<p>", "too_deep", id="nested behind end tags that close nothing"
        ),
        pytest.param(
            b"<p>" + b"".join(b"<b id=%d>" % n for n in range(3000)) + b"<p>x" * 3000,
            "too_deep",
            id="formatting that is reopened for ever",
        ),
        pytest.param(
            b"<p>" + b"".join(b"<b id=%d>" % n for n in range(700)) + b"</p>" + b"<p>x</p>" * 150_000,
            "too_deep",
            id="a little formatting that is reopened in very many blocks",
        ),
    ],
)
def test_refused_with_a_reason(body: bytes, reason: str) -> None:
    """What cannot be read is no product page, and the verdict says why."""
    started = time.process_time()
    verdict = read_all(body)
    assert time.process_time() - started < SECONDS
    assert not verdict.is_pdp
    assert verdict.reasons == (reason,)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(SHOP.replace(b"Cup", b"C\0u\0p"), id="NUL bytes"),
        pytest.param(SHOP + b"<p>\xff\xfe\xc3\x28\xa0\xa1</p>", id="invalid UTF-8"),
        pytest.param(b'<meta charset="utf-16">' + SHOP, id="wrong declared charset"),
        pytest.param(b'<meta charset="no-such-charset">' + SHOP, id="unknown declared charset"),
        pytest.param(
            b'<script type="application/ld+json">{"a": "' + b"x" * 10 * MEGABYTE + b'"}</script>' + SHOP,
            id="JSON-LD of 10 MB",
        ),
        pytest.param(
            b'<script type="application/ld+json">'
            + b'{"a":' * 10_000
            + b"1"
            + b"}" * 10_000
            + b"</script>"
            + SHOP,
            id="JSON-LD of 10,000 levels",
        ),
        pytest.param(
            b'<script type="application/ld+json">' + b'[{"@type":"Product"},' * 3_000 + b"</script>" + SHOP,
            id="JSON-LD that never ends",
        ),
        pytest.param(SHOP + b"<div>" * 3_000 + b"<span class=price>1" * 3_000, id="3,000 nested elements"),
        pytest.param(
            SHOP + b"<a href='//[x'>Buy</a><a href='http://x:y/'>x</a><base href='//['>", id="bad addresses"
        ),
        pytest.param(SHOP + b'<a class="' + b"price " * 100_000 + b'">x</a>', id="an endless class"),
        pytest.param(SHOP + b'<span class="price">' + b"1.111" * 200_000 + b"</span>", id="an endless price"),
        pytest.param(SHOP + b"<a href='/x'>" + b"add to " * 200_000 + b"</a>", id="an endless label"),
        pytest.param(
            SHOP
            + b"".join(
                b"<div class=c%dx><button>Sold out</button><h2>x</h2></div>" % n for n in range(20_000)
            ),
            id="20,000 buttons that wait",
        ),
        pytest.param(
            SHOP + b"<div>" * 30 + b"<input name=qty>" * 5_000 + b"<p>x</p>" * 50_000,
            id="5,000 fields that ask how many",
        ),
        pytest.param(
            SHOP
            + b"<div>" * 30
            + b"".join(b"<b class=c%dx><button>Add to cart</button></b>" % n for n in range(60))
            + b"<p>x</p>" * 50_000,
            id="60 controls without a heading",
        ),
        pytest.param(SHOP + b"<svg><style><h1>&#0;<!--" + b"<!DOCTYPE x [" * 1000, id="half-open everything"),
    ],
)
def test_read_all_the_same(body: bytes) -> None:
    """Damage beside a product takes nothing away from it."""
    started = time.process_time()
    verdict = read_all(body)
    assert time.process_time() - started < SECONDS
    assert verdict.signals.has_price
    assert verdict.signals.has_add_to_cart
    assert verdict.is_pdp


def test_memory_is_bounded() -> None:
    """A page of 50 MB is not copied about."""
    body = SHOP + b"<p>x</p>" * (50 * MEGABYTE // 8)
    tracemalloc.start()
    read_all(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MEGABYTE


def test_content_type_that_is_no_html() -> None:
    """What the server calls an image is not parsed."""
    page = read_page(SHOP, url="https://shop.example/", content_type="image/svg")
    assert judge(page).reasons == ("not_html",)


def test_one_failing_reader_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that breaks is named, and the other signals are read all the same."""

    def broken(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setitem(READERS, "has_add_to_cart", broken)
    verdict = judge(read_page(SHOP, url="https://shop.example/"))
    assert verdict.signals.has_price
    assert verdict.signals.has_title_and_image
    assert verdict.reasons == ("missing_strong_signal", "unreadable_add_to_cart")
