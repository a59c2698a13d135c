"""The shops: what they are for, and how the many equal ones differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.demo import DEMO_SIX
from tests.unit.demo.asking import read

if TYPE_CHECKING:
    from crawler.demo import DemoServer


def test_bulk_shops_are_alike_but_not_the_same(demo: DemoServer) -> None:
    """They differ in their sign and their colours."""
    one, two = (read(demo.url(f"shop-000{number}")) for number in (1, 2))
    assert one != two
    assert one.replace("No. 1", "No. 2").splitlines()[20:] == two.splitlines()[20:]


def test_the_six_tell_the_story() -> None:
    """All three ways in which a visit can end are among them."""
    assert [shop.name for shop in DEMO_SIX] == [
        "plain",
        "german",
        "japanese",
        "hub",
        "bot-block",
        "price-changes",
    ]
    assert {shop.status for shop in DEMO_SIX} == {"completed", "partial", "failed"}
