"""Which addresses are listened on, and what is said of those that are not."""

from __future__ import annotations

import socket

import pytest

from crawler.config import load_settings
from crawler.web import serving


def test_a_public_address_needs_a_token() -> None:
    """Loopback needs none; everything else does."""
    for host in ("0.0.0.0", "::", "192.0.2.1", "archive.example"):  # ruff: ignore[hardcoded-bind-all-interfaces] - refused
        with pytest.raises(serving.PublicBindError):
            serving.check_bind(host, load_settings({"admin_token": ""}))
        serving.check_bind(host, load_settings({"admin_token": "something"}))
    for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        serving.check_bind(host, load_settings({"admin_token": ""}))


def test_a_port_that_is_taken_is_an_error_with_a_way_out() -> None:
    """Not a traceback."""
    with serving.listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(serving.PortError, match=str(port)), serving.listening("127.0.0.1", port):
            pass


def test_an_address_is_one_that_a_browser_takes() -> None:
    """Whatever was listened on."""
    with serving.listening("127.0.0.1", 0) as bound:
        assert serving.address_of(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"
    with socket.create_server(("", 0)) as everywhere:
        assert serving.address_of(everywhere).startswith("http://127.0.0.1:")
