"""Cookies ask no server which domains are public suffixes."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any, NoReturn

from scrapy.downloadermiddlewares import cookies

from crawler.crawl.suffixes import use_bundled_suffixes

if TYPE_CHECKING:
    import pytest


def test_no_list_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that comes along answers, without a connection."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a connection")

    monkeypatch.setattr(cookies, "_split_domain", cookies._split_domain)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    use_bundled_suffixes()
    assert cookies._is_public_domain("co.uk")
    assert not cookies._is_public_domain("shop.co.uk")
