"""What is made of pages that only a browser sees as they are: the demo's scenes, one look at each."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from scrapy.exceptions import DownloadCancelledError

from crawler.pdp.reading import PageQuestion, reading_of
from crawler.rendering.dismissing import MOST_PER_PASS
from crawler.rendering.failures import NoPageError
from crawler.rendering.pictures import size_of
from crawler.rendering.viewports import MOBILE
from tests.integration.rendering.conftest import AT_A_GLANCE

if TYPE_CHECKING:
    from playwright.async_api import Page

    from crawler.demo import DemoServer
    from tests.integration.rendering.conftest import Looker, Seen

TUMBLER = "/products/fogbound-tumbler"


def text_of(seen: Seen) -> str:
    """What could be read on the page."""
    assert seen.rendered is not None
    return seen.rendered.text.decode()


def test_what_a_script_brings_is_judged(looker: Looker, shop: DemoServer) -> None:
    """Through a phone's window: its size, a user agent with our name in it, a picture of the whole page."""
    seen = looker.look(shop.url("script-only", TUMBLER), MOBILE)
    rendered = seen.rendered
    assert rendered is not None
    assert b"Fogbound Tumbler</h1>" in seen.response.body
    assert rendered.sent == plain(shop.url("script-only", TUMBLER))
    assert b"Fogbound Tumbler</h1>" not in rendered.sent
    assert "Fogbound Tumbler" in text_of(seen)
    assert rendered.screenshot is not None
    width, height = size_of(rendered.screenshot)
    assert (width, height > 1200) == (390, True)
    assert rendered.doubts == ()
    assert {"first_byte_ms", "dom_content_loaded_ms", "load_ms", "render_ms"} <= set(rendered.timings)
    agent = next(entry.user_agent for entry in shop.log.entries("script-only"))
    assert "Mobile" in agent
    assert "Vitrine/" in agent


def plain(url: str) -> bytes:
    """A page as its server sends it."""
    with urlopen(url) as answer:  # ruff: ignore[suspicious-url-open-usage] - our own shop
        return bytes(answer.read())


def test_what_the_server_sent_is_kept_to_the_byte(looker: Looker, shop: DemoServer) -> None:
    """Where the page declares one charset and is in another, too; the browser's own reading is beside it."""
    url = shop.url("charset")
    seen = looker.look(url, **AT_A_GLANCE)
    assert seen.rendered is not None
    assert seen.rendered.sent == plain(url)
    assert (seen.rendered.sent_type, seen.rendered.sent_charset) == ("text/html; charset=utf-8", "utf-8")
    with pytest.raises(UnicodeDecodeError):
        seen.rendered.sent.decode()
    assert "\ufffd" in seen.response.text


def test_shadow_trees_are_in_what_is_judged(looker: Looker, shop: DemoServer) -> None:
    """One in another, as templates in the HTML, from which a browser makes them again."""
    trees = """addEventListener("DOMContentLoaded", () => {
      const within = (host, html) => {
        host.attachShadow({ mode: "open" }).innerHTML = html;
        return host.shadowRoot.querySelector("x-inner");
      };
      const host = document.querySelector("main").appendChild(document.createElement("x-outer"));
      within(within(host, "<p>seven in stock</p><x-inner></x-inner>"), "<h2>Told twice over</h2>");
    })"""

    async def grow(page: Page) -> None:
        await page.add_init_script(trees)

    seen = looker.look(shop.url("plain", TUMBLER), meanwhile=grow, **AT_A_GLANCE)
    template = '<template shadowrootmode="open">'
    assert f"<x-outer>{template}<p>seven in stock</p><x-inner>{template}<h2>Told" in seen.response.text
    assert seen.response.text.startswith("<!DOCTYPE html>\n<html lang=")
    assert seen.response.text.endswith("</html>")
    read = reading_of(
        PageQuestion(seen.response.body, seen.response.url, "text/html", "v1.2", with_links=False)
    )
    assert "seven in stock Told twice over" in read.text.decode()
    assert "seven in stock Told twice over" in text_of(seen)
    assert {"Told twice over"} <= set(json.loads(read.features)["headings"]["h2"])


@pytest.mark.parametrize(
    ("scene", "gone"),
    [
        ("consent-banner", "others to measure how our pages are read"),
        ("consent-dialog", "This website uses cookies"),
        ("consent-shadow", "would like to know you better"),
    ],
)
def test_known_vendors_do_not_even_appear(looker: Looker, shop: DemoServer, scene: str, gone: str) -> None:
    """Their banners find that they were answered; nothing was dismissed, so nothing is logged."""
    seen = looker.look(shop.url(scene), render_scroll_steps=1)
    assert gone not in text_of(seen)
    assert "popup.dismissed" not in seen.events


@pytest.mark.parametrize(
    ("scene", "path", "kind", "label", "gone"),
    [
        ("consent-dialog", "/?stubborn=1", "cookie", "Rather keep them", "This website uses cookies"),
        ("newsletter", "/", "newsletter", "No thanks", "Join our newsletter"),
        ("banner-in-frame", "/", "cookie", "Nur notwendige Cookies", 'id="frame-banner"'),
    ],
)  # fmt: skip
def test_a_popup_is_dismissed_by_what_does_no_harm(
    looker: Looker, shop: DemoServer, scene: str, path: str, kind: str, label: str, gone: str
) -> None:
    """One line for each, with what it was and what was pressed; no address was left, nothing was bought."""
    seen = looker.look(shop.url(scene, path), render_scroll_steps=1)
    dismissals = [details for event, details in seen.log if event == "popup.dismissed"]
    assert [(each["kind"], each["label"]) for each in dismissals] == [(kind, label)]
    assert gone not in text_of(seen)
    asked = [entry.path for entry in shop.log.entries(scene)]
    assert not [path for path in asked if path.startswith(("/cart", "/account"))]
    assert "overlay_hide_fallback" not in seen.events


@pytest.mark.soak(minutes=10)
def test_a_page_of_nothing_but_popups_has_its_bounds(looker: Looker, shop: DemoServer) -> None:
    """A pass dismisses so many; one that stays whatever is pressed is left where it is."""
    popups = """addEventListener("DOMContentLoaded", () => {
      for (let n = 0; n < 9; n++) document.body.insertAdjacentHTML("beforeend",
        `<div role=dialog style="position:fixed;top:${40 * n}px;left:0;width:300px;height:35px">
        We use cookies ${n}
        <button ${n ? "onclick='this.parentNode.remove()'" : ""}>Reject all</button></div>`);
    })"""

    async def grow(page: Page) -> None:
        await page.add_init_script(popups)

    seen = looker.look(shop.url("plain"), meanwhile=grow, **AT_A_GLANCE)
    passes = Counter(details["pass"] for event, details in seen.log if event == "popup.dismissed")
    assert passes
    assert max(passes.values()) == MOST_PER_PASS
    assert "We use cookies 0" in seen.response.text


def test_a_curtain_without_a_button_is_hidden_once(looker: Looker, shop: DemoServer) -> None:
    """The last resort, with its one line; the page's own header, main part and footer stay."""
    seen = looker.look(shop.url("overlay"))
    assert seen.events.count("overlay_hide_fallback") == 1
    assert "dressing the window" not in text_of(seen)
    assert "Fogbound Tumbler" in text_of(seen)


def test_a_page_without_popups_has_no_line_of_any(looker: Looker, shop: DemoServer) -> None:
    """And a browser wants nothing of anybody but what the page asks for."""
    seen = looker.look(shop.url("plain"))
    assert seen.events == []
    assert seen.hosts == {urlsplit(shop.url("plain")).hostname}


def test_pictures_that_wait_to_be_seen_are_there(looker: Looker, shop: DemoServer) -> None:
    """And two looks at the same page are the same picture, to the byte."""
    shop.forget()
    looks = [looker.look(shop.url("lazy")) for _ in range(2)]
    photos = {entry.path for entry in shop.log.entries("lazy") if entry.path.startswith("/photo/")}
    assert len(photos) == 12
    first, second = (look.rendered.screenshot for look in looks if look.rendered)
    assert first == second


@pytest.mark.soak(minutes=10)
def test_a_page_without_an_end_is_bounded(looker: Looker, shop: DemoServer) -> None:
    """By the steps of the scroll, and in its picture."""
    seen = looker.look(shop.url("endless-scroll"), render_scroll_steps=8, render_screenshot_max_px=3000)
    assert "there are more" in text_of(seen)
    assert seen.rendered is not None
    assert seen.rendered.screenshot is not None
    assert size_of(seen.rendered.screenshot)[1] == 3000


@pytest.mark.soak(minutes=10)
def test_a_page_that_never_stops_is_taken_as_it_is(looker: Looker, shop: DemoServer) -> None:
    """With a warning that says what it was waited for."""
    seen = looker.look(shop.url("never-idle"), render_ready_max_ms=1500)
    [said] = [details for event, details in seen.log if event == "render.not_ready"]
    assert said["still"] == "network"
    assert "Fogbound Tumbler" in text_of(seen)


@pytest.mark.soak(minutes=10)
def test_where_a_page_leads_is_for_the_crawl_to_follow(looker: Looker, shop: DemoServer) -> None:
    """By header or by script: the new address is handed back, and was not asked for."""
    for url in (shop.url("moves-on"), shop.url("plain", "/scenario/redirect/start")):
        seen = looker.look(url)
        assert seen.response.status == 302
        assert seen.response.headers["Location"].decode().endswith("/start")  # type: ignore[union-attr]
    assert "/start" not in [entry.path for entry in shop.log.entries("moves-on")]
    # one that loads itself again is waited for
    seen = looker.look(shop.url("moves-on", TUMBLER))
    assert seen.response.status == 200
    assert "Fogbound Tumbler" in text_of(seen)
    assert seen.traffic.document.reloads == 1


def test_evidence_is_taken_once_more_when_the_page_goes_away_under_it(
    looker: Looker, shop: DemoServer
) -> None:
    """With the reason, one of the three that pass (SPEC F149)."""

    # ruff: ignore[unused-async] - it is awaited
    async def reload_at_the_end(page: Page) -> None:
        evaluate, is_done = page.evaluate, False

        async def evaluate_once(expression: str, *arguments: object) -> object:
            nonlocal is_done
            if "outerHTML" in expression and not is_done:
                is_done = True
                again = asyncio.ensure_future(page.reload())
                try:
                    return await evaluate("() => new Promise(() => {})")
                finally:
                    await again
            return await evaluate(expression, *arguments)

        page.evaluate = evaluate_once  # type: ignore[method-assign, assignment]

    seen = looker.look(shop.url("plain", TUMBLER), meanwhile=reload_at_the_end, **AT_A_GLANCE)
    [said] = [details for event, details in seen.log if event == "extraction.retry"]
    assert said["reason"] == "execution_context_destroyed"
    assert "Fogbound Tumbler" in text_of(seen)


def test_files_are_not_downloaded(looker: Looker, shop: DemoServer) -> None:
    """They are no pages."""
    with pytest.raises(NoPageError):
        looker.look(shop.url("download", "/products/price-list"))


def test_an_error_page_is_an_answer_like_any_other(looker: Looker, shop: DemoServer) -> None:
    """With its status, for the crawl to decide about; nothing is waited for."""
    seen = looker.look(shop.url("503"))
    assert seen.response.status == 503
    assert seen.response.headers["Retry-After"] == b"2"
    assert seen.rendered is None


def test_a_page_that_unpacks_to_more_than_it_may_is_given_up(looker: Looker, shop: DemoServer) -> None:
    """Whatever it was on the wire."""
    with pytest.raises(DownloadCancelledError):
        looker.look(shop.url("gzip-bomb"), render_max_mb=8)
