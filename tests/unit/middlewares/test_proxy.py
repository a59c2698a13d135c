"""A proxy by our own setting only, and no private address behind it."""

from __future__ import annotations

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.test import get_crawler

from crawler.access.egress import EgressPolicy
from crawler.middlewares.proxy import ProxyMiddleware
from tests.unit.components import a_request

PROXY = "http://proxy.example:3128"
WITH_PASSWORD = "http://us:secret@proxy.example:3128"


def test_without_the_setting_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says."""
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    request = a_request("https://shop.example/")
    ProxyMiddleware.from_crawler(get_crawler()).process_request(request)
    assert "proxy" not in request.meta


@pytest.mark.parametrize(
    ("own", "setting"),
    [
        ({}, {"PROXY_URL": WITH_PASSWORD}),
        ({"proxy": WITH_PASSWORD}, {}),
        ({"proxy": WITH_PASSWORD}, {"PROXY_URL": "http://other.example:1"}),
    ],
    ids=["setting", "own", "both"],
)
def test_a_request_goes_through_its_own_proxy_or_that_of_the_setting(
    own: dict[str, str], setting: dict[str, str]
) -> None:
    """With user and password, which stay in no meta key."""
    request = a_request("https://shop.example/", meta=dict(own))
    ProxyMiddleware.from_crawler(get_crawler(settings_dict=setting)).process_request(request)
    assert request.meta["proxy"] == PROXY
    assert request.headers["Proxy-Authorization"] == b"Basic dXM6c2VjcmV0"
    assert "secret" not in str(request.meta)
    with pytest.raises(IgnoreRequest):
        ProxyMiddleware.from_crawler(get_crawler()).process_request(
            a_request("http://10.0.0.7/", meta={"proxy": PROXY})
        )


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "a.localhost",
        "127.0.0.1",
        "10.0.0.7",
        "169.254.169.254",
        "[::1]",
        "127.1",
        "0x7f.1",
        "2130706433",
    ],
)
def test_a_private_address_is_refused_by_its_spelling(host: str) -> None:
    """The proxy would look it up, past our own resolver."""
    middleware = ProxyMiddleware(PROXY, EgressPolicy.of([]))
    with pytest.raises(IgnoreRequest, match="is not to be connected to"):
        middleware.process_request(a_request(f"http://{host}/"))


def test_what_the_operator_allows_goes() -> None:
    """EGRESS_ALLOW holds here as well."""
    request = a_request("http://10.0.0.7/")
    ProxyMiddleware(PROXY, EgressPolicy.of(["10.0.0.0/8"])).process_request(request)
    assert request.meta["proxy"] == PROXY
