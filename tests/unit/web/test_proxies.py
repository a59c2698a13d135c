"""Who asked, as far as proxies can be believed."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.web.proxies import Proxies


def seen(client: str, told: str, proxies: tuple[str, ...] = ("10.0.0.0/8",)) -> Any:
    """The address that a request is counted under."""
    headers = [(b"x-forwarded-for", told.encode())]
    scope = {"type": "http", "client": (client, 1), "headers": headers, "scheme": "http"}
    return Proxies(proxies).seen_through(scope)["client"][0]


@pytest.mark.parametrize(
    ("client", "told", "expected"),
    [
        ("203.0.113.1", "198.51.100.7", "203.0.113.1"),  # nobody we trust
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.7", "198.51.100.7"),  # the first was made up
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", "198.51.100.7"),  # two proxies of ours
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
    ],
)
def test_the_last_stranger_is_the_client(client: str, told: str, expected: str) -> None:
    """What stands before it, the client may have written."""
    assert seen(client, told) == expected


def test_without_proxies_nothing_is_believed() -> None:
    """The default."""
    assert seen("10.0.0.1", "198.51.100.7", ()) == "10.0.0.1"
