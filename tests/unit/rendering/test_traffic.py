"""What a page may ask for: its own document, within bounds, and nothing ahead of time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from attrs import frozen

from crawler.config import load_settings
from crawler.rendering.traffic import MOST_RELOADS, Bounds, Traffic
from crawler.rendering.viewports import DESKTOP, MOBILE
from tests.unit.components import awaited

URL = "https://shop.example/a?b=1"
MAIN = "the main frame"


class Session:
    """Stands for the browser's side of a page."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def send(self, method: str, told: dict[str, Any]) -> None:
        """Note what is answered."""
        self.sent.append((method, told))


@frozen(eq=False)
class Asked:
    """Stands for one of a page's requests."""

    resource_type: str
    headers: dict[str, str]


def a_request(kind: str = "image", **headers: str) -> Any:
    """One of a page's requests."""
    return Asked(kind, headers)


def asked(traffic: Traffic, url: str, *, frame: str = MAIN, redirected: bool = False) -> str:
    """What is answered when a document is asked for."""
    session: Any = Session()
    event = {"requestId": "1", "request": {"url": url}, "frameId": frame}
    if redirected:
        event["redirectedRequestId"] = "0"
    awaited(traffic._judge(session, MAIN, event))
    [(method, told)] = session.sent
    return "goes" if method == "Fetch.continueRequest" else str(told["errorReason"])


def a_traffic(**bounds: Any) -> Traffic:
    """That of a page that has asked for nothing yet."""
    return Traffic(Bounds(**{"requests": 3, "bytes": 100, "blocks_media": True, **bounds}), URL)


def test_a_document_goes_where_it_was_sent_and_nowhere_else() -> None:
    """Its first request, its frames, itself again twice; anything else is taken down for the crawl."""
    traffic = a_traffic()
    assert asked(traffic, URL) == "goes"
    traffic.answer = SimpleNamespace()  # type: ignore[assignment]
    assert asked(traffic, "https://other.example/frame", frame="another") == "goes"
    assert traffic.led_to is None
    assert [asked(traffic, f"{URL}#part") for _ in range(MOST_RELOADS + 1)] == ["goes"] * MOST_RELOADS + [
        "Aborted"
    ]
    traffic = a_traffic()
    traffic.answer = SimpleNamespace()  # type: ignore[assignment]
    assert asked(traffic, "https://shop.example/c") == "Aborted"
    assert asked(traffic, "https://shop.example/d") == "Aborted"
    assert traffic.led_to == "https://shop.example/c"  # the first


@pytest.mark.parametrize("url", [URL, "http://169.254.169.254/", "https://www.shop.example/a?b=1"])
def test_a_redirect_is_never_followed_in_the_browser(url: str) -> None:
    """Gate, robots.txt and egress rule are asked about it first."""
    traffic = a_traffic()
    assert asked(traffic, url, redirected=True) == "Aborted"
    assert traffic.led_to == url


def test_requests_are_counted_and_some_are_not_sent() -> None:
    """Videos, what is fetched ahead, and what is more than a page may."""
    traffic = a_traffic()
    assert traffic.may_send(a_request())
    assert not traffic.may_send(a_request("media"))
    assert not traffic.may_send(a_request("other", **{"sec-purpose": "prefetch;prerender"}))
    assert not traffic.may_send(a_request("other", purpose="prefetch"))
    assert a_traffic(blocks_media=False).may_send(a_request("media"))
    for _ in range(4):
        traffic._began(a_request())
    assert not traffic.may_send(a_request())
    assert traffic.blocked == 4


def test_what_streams_is_not_waited_for() -> None:
    """An event source is open for as long as its page."""
    traffic = a_traffic()
    image, stream = a_request(), a_request("eventsource")
    traffic._began(image)
    traffic._began(stream)
    assert (traffic.begun, traffic.under_way) == (2, 1)
    traffic._ended(image)
    assert traffic.under_way == 0


@pytest.mark.parametrize("viewport", [DESKTOP, MOBILE], ids=["desktop", "mobile"])
def test_a_context_presents_itself_and_is_granted_nothing(viewport: Any) -> None:
    """Its size, our name behind the browser's, the operator's locale and time zone (SPEC F154)."""
    settings = load_settings({"RENDER_LOCALE": "de-DE", "RENDER_TIMEZONE": "Europe/Berlin"})
    options = viewport.context("150.0.7871.100", settings)
    size = {"desktop": (1920, 1080), "mobile": (390, 844)}[viewport.name]
    assert tuple(options["viewport"].values()) == size
    assert options["user_agent"].endswith(settings.user_agent)
    assert (
        ("Mobile" in options["user_agent"])
        is options["is_mobile"]
        is options["has_touch"]
        is viewport.is_mobile
    )
    assert (options["locale"], options["timezone_id"]) == ("de-DE", "Europe/Berlin")
    assert (options["accept_downloads"], options["service_workers"], options["permissions"]) == (
        False,
        "block",
        [],
    )
