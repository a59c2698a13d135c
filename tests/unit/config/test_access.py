"""Who we say we are, and what may be fetched: what cannot work is refused before anything begins."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError


@pytest.mark.parametrize(
    ("said", "allowed"),
    [
        ("", ()), (" , ,", ()), ("shop.test", ("shop.test",)), ("10.0.0.7/8", ("10.0.0.7/8",)),
        ("::1,fe80::/10", ("::1", "fe80::/10")), ("*.test , 127.0.0.1", ("*.test", "127.0.0.1")),
    ],
)  # fmt: skip
def test_what_is_allowed_is_a_list(said: str, allowed: tuple[str, ...]) -> None:
    """Of names, addresses and networks; nothing between two commas is nothing, not everything."""
    assert load_settings({"EGRESS_ALLOW": said}).egress_allow == allowed


@pytest.mark.parametrize("said", ["10.0.0", "10.0.0.0/33", "shop.test/x", "a@b.test", "1e9", "0.0.0.0/-1"])
def test_what_is_neither_name_nor_network_is_refused(said: str) -> None:
    """It would allow nothing, or more than was meant."""
    with pytest.raises(ConfigError, match="EGRESS_ALLOW"):
        load_settings({"EGRESS_ALLOW": f"shop.test,{said}"})


@pytest.mark.parametrize(
    "said",
    ["", "http://proxy.test:3128", "https://u:p@proxy.test", "http://[::1]:3128", "http://127.0.0.1:1"],
)
def test_a_proxy_has_a_host(said: str) -> None:
    """It may name a user, who is shown to nobody."""
    assert load_settings({"PROXY_URL": said}).proxy_url == said


@pytest.mark.parametrize(
    "said", ["http://", "http:///x", "http://:3128", "proxy.test:3128", "http://p.test:0", "http://p:x"]
)
def test_a_proxy_that_cannot_be_reached_is_refused(said: str) -> None:
    """Each page would fail for it, and none would say why."""
    with pytest.raises(ConfigError, match="PROXY_URL"):
        load_settings({"PROXY_URL": said})


@pytest.mark.parametrize(
    "said",
    [
        "https://",
        "http://u:p@ops.example/",
        "ftp://ops.example/",
        "https://ops.example/\nX: y",
        "mailto:",
        "mailto:ops",
    ],
)
def test_a_contact_leads_somewhere(said: str) -> None:
    """It goes out with every request: it holds no password and no second header."""
    with pytest.raises(ConfigError, match="CONTACT_URL"):
        load_settings({"CONTACT_URL": said})
    assert load_settings({"CONTACT_URL": "mailto:ops@shop.example"}).user_agent.endswith(
        "(+mailto:ops@shop.example)"
    )
