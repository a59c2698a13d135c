"""Sources as documents: what is odd, and what they make of a URL."""

from __future__ import annotations

from crawler.runs.sources import Source, known_plugins
from crawler.views import sources

SHOP = Source.of_url("https://shop.example/")


def test_a_url_is_judged_by_the_source() -> None:
    """With the rule that decides; no password is repeated."""
    checked = sources.check(
        SHOP, known_plugins(), ["https://shop.example/p", "https://me:secret@other.example/"]
    )
    assert (checked.source, checked.ok, checked.oddities) == (SHOP.code, True, ())
    ours, other = checked.urls
    assert (ours.url, ours.allowed, ours.reason) == ("https://shop.example/p", True, None)
    assert not other.allowed
    assert other.reason
    assert other.told
    assert "secret" not in other.url


def test_what_is_odd_is_told() -> None:
    """Here plugins that nobody has."""
    checked = sources.check(SHOP, (), ())
    assert not checked.ok
    assert {odd.key for odd in checked.oddities} == {"plugins"}
    assert checked.urls == ()
