"""Where the references of a page lead."""

from __future__ import annotations

import pytest

from crawler.pdp.addresses import base_of, joined, resolved, top_of
from tests.unit.pdp.pages import URL, page

BASE = "https://shop.example/p/jug"


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("", URL),
        ('<base href="/de/">', "https://shop.example/de/"),
        ('<base href="https://cdn.example/">', "https://cdn.example/"),
        ('<base target="_top">', URL),
        ('<base href="javascript:x">', URL),
        ('<base href="http://[broken">', URL),
    ],
)
def test_references_are_read_against_the_base(head: str, base: str) -> None:
    """The page's own address where it sets none that can be fetched."""
    assert base_of(page(head=head)) == base


@pytest.mark.parametrize(
    "href",
    [
        "cup", "./cup", "../cup", "/cup", "//cdn.example/cup", "?a=1", "https://other.example", "/a/./b",
        "https://other.example?a=1", "https://other.example/x?y=1", "/cup?x=[1]", "HTTPS://other.example/x",
    ],
)  # fmt: skip
def test_the_quick_way_leads_to_the_same_place(href: str) -> None:
    """As the thorough one does."""
    found = resolved(BASE, top_of(BASE), href)
    assert found == joined(BASE, href) or found == f"{joined(BASE, href)}/"


@pytest.mark.parametrize("href", ["mailto:me@shop.example", "ftp://a.example/x", "http://[broken", "tel:1"])
def test_what_leads_nowhere_is_empty(href: str) -> None:
    """Only http addresses are any."""
    assert not joined(BASE, href)


def test_a_fragment_is_no_other_address() -> None:
    """It is left out."""
    assert joined(BASE, "/cup#top") == "https://shop.example/cup"
