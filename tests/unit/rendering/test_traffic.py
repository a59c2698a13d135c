"""What a page may ask for: within bounds, and nothing ahead of time."""

from __future__ import annotations

from typing import Any, Self, cast
from weakref import ref

import pytest
from attrs import field, frozen

from crawler.config import load_settings
from crawler.rendering.traffic import Bounds, Traffic, Watched
from crawler.rendering.viewports import DESKTOP, MOBILE

URL = "https://shop.example/a?b=1"


@frozen(eq=False)
class Asked:
    """Stands for one of a page's requests."""

    resource_type: str
    headers: dict[str, str]


def a_request(kind: str = "image", **headers: str) -> Any:
    """One of a page's requests."""
    return Asked(kind, headers)


def a_traffic(**bounds: Any) -> Traffic:
    """That of a page that has asked for nothing yet."""
    return Traffic(Bounds(**{"requests": 3, "bytes": 100, "blocks_media": True, **bounds}), URL)


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


@frozen(eq=False)
class OfAPage:
    """Stands for a request, and for the frame that it is of."""

    page: Any
    resource_type: str = "image"
    headers: dict[str, str] = field(factory=dict)

    @property
    def frame(self) -> Self:
        """Where it comes from."""
        return self


def test_only_pages_that_are_looked_at_send_anything() -> None:
    """Of one that was rendered nothing is kept: what it had asked for would stay as long as the crawl."""
    watched, traffic = Watched(), a_traffic()
    page: Any = object()
    asked: Any = OfAPage(page)
    with watched.during(page, traffic):
        assert not watched.is_refused(asked)
        assert watched.is_refused(cast("Any", OfAPage(object())))
    assert watched.is_refused(asked)
    kept = ref(traffic)
    del traffic
    assert kept() is None


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
