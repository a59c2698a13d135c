"""Scenes: what a page becomes for who looks at it with a browser, and what stays as it was."""

from __future__ import annotations

import re
from html import escape

import pytest

from crawler.demo.scenarios import Call
from crawler.demo.scenes import PLACE, SCENES
from crawler.demo.wire import Reply

ACTS = {name: act for name, _, act in SCENES}
HTML = (
    '<html><head><script type="application/ld+json">{"@type": "Product"}</script>\n</head><body>'
    '<main id="m"><h1>A jug</h1><img alt="jug" src="/photo/jug-1.svg"><ul class="grid product-grid"></ul>'
    "</main></body></html>"
)


def called(path: str = "/", /, *, by_prefix: bool = False, **query: str) -> Call:
    """A request for a scene."""
    return Call(path, query, 0, by_prefix, "plain", lambda shop, path: f"http://{shop}.example{path}")


def shop_page(path: str) -> Reply:
    """A page of the shop, a picture, and nothing else."""
    if path.endswith(".svg"):
        return Reply(b"<svg>", content_type="image/svg+xml")
    return Reply(HTML.encode()) if path in {"/", "/p"} else Reply(b"no</body>", 404)


def shown(name: str, call: Call) -> str:
    """What a scene answers."""
    return ACTS[name](call, shop_page).body.decode()


@pytest.mark.parametrize("name", ACTS)
def test_a_scene_dresses_pages_alone(name: str) -> None:
    """Its fragment stands within the page, with nothing left to be filled in; pictures and refusals stay."""
    page = shown(name, called("/p"))
    assert page != HTML
    assert page.endswith("</body></html>")
    assert not re.search(r"\{(?:base|path|canary|frame)\}", page)
    assert ACTS[name](called("/photo/jug-1.svg"), shop_page) == shop_page("/photo/jug-1.svg")
    assert ACTS[name](called("/gone"), shop_page).status == 404


def test_what_a_script_brings_is_not_in_the_page() -> None:
    """Neither as text nor as structured data; it is had at the scene's own address."""
    page = shown("script-only", called("/p"))
    assert "A jug" not in page
    assert "ld+json" not in page
    assert '<main id="m"></main>' in page
    assert "A jug" in shown("script-only", called(f"{PLACE}main", path="/p"))
    assert not shown("script-only", called(f"{PLACE}main", path="/photo/jug-1.svg"))


def test_lazy_pictures_have_their_address_elsewhere() -> None:
    """A reader of `src` alone finds a blank one."""
    page = shown("lazy", called("/p"))
    assert 'data-src="/photo/jug-1.svg"' in page
    assert ' src="/photo' not in page


def test_a_scene_by_prefix_asks_below_its_prefix() -> None:
    """So a shop without the scene can show it."""
    assert f"/scenario/script-only{PLACE}main" in shown("script-only", called("/p", by_prefix=True))
    assert "/scenario/script-only" not in shown("script-only", called("/p"))
    assert 'href="/scenario/download/products/price-list"' in shown("download", called("/p", by_prefix=True))


def test_a_frame_is_another_hosts() -> None:
    """And has the banner in it."""
    page = shown("banner-in-frame", called("/p"))
    assert escape(f"http://m.plain.example/scenario/banner-in-frame{PLACE}frame") in page
    assert ACTS["banner-in-frame"](called(f"{PLACE}frame"), shop_page).status == 200


def test_files_of_scenes() -> None:
    """A shelf that goes on, a tick, a way out, a file to be kept."""
    assert "Shelf 7," in shown("endless-scroll", called(f"{PLACE}more", page="7"))
    assert shown("never-idle", called(f"{PLACE}tick")) == "tick"
    away = ACTS["probing"](called(f"{PLACE}away", port="8"), shop_page)
    assert (away.status, dict(away.headers)["Location"]) == (302, "http://127.0.0.1:8/redirected")
    kept = ACTS["download"](called("/products/price-list"), shop_page)
    assert (kept.content_type, kept.body[:5]) == ("application/pdf", b"%PDF-")
