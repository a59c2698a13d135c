"""Scenes: what a page becomes for who looks at it with a browser, and what stays as it was."""

from __future__ import annotations

import re

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
