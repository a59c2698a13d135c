"""A server's URL is one, and what is shown to anybody names no user."""

from __future__ import annotations

import pytest

from crawler.config.fields import checked_url, without_user

REDIS, WEB = ("redis", "unix"), ("http", "https")


@pytest.mark.parametrize(
    ("url", "schemes"),
    [
        ("", WEB),
        ("https://a.test", WEB),
        ("http://[::1]:8080/x?y#z", WEB),
        ("redis://", REDIS),
        ("unix:///run/r", REDIS),
    ],
)
def test_urls_that_are_taken(url: str, schemes: tuple[str, ...]) -> None:
    """As they are; nothing is a server of its own kind."""
    assert checked_url(url, schemes) == url


@pytest.mark.parametrize(
    "url",
    ["a.test", "https:/a.test", "https:a.test", "ftp://a.test", "https://a.test:0", "https://a.test:x",
     "https://a.test:99999", "https://", "https://[::1", "https:///path", "HTTPS://a.test"],
)  # fmt: skip
def test_urls_that_are_none(url: str) -> None:
    """Pydantic makes a line of it."""
    with pytest.raises(ValueError):  # ruff: ignore[pytest-raises-too-broad] - some are urllib's
        checked_url(url, WEB)


@pytest.mark.parametrize(
    "value", ["https://u:p@a.test/", "u@a.test", "https://@a.test", "https://a@b@c.test/"]
)
def test_a_user_is_refused(value: str) -> None:
    """With a password or without."""
    with pytest.raises(ValueError, match="user"):
        without_user(value)


@pytest.mark.parametrize(
    "value", ["", "a.test", "https://a.test/@me", "https://a.test/x?mail=a@b.test", "a.test/@me"]
)
def test_a_path_may_have_anything(value: str) -> None:
    """Whoever it mentions."""
    assert without_user(value) == value
