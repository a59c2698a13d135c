"""What differs is told as a reader would tell it, whatever the texts are, in bounded time."""

from __future__ import annotations

import random
import time
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from crawler.archive.comparing import (
    ADDED,
    MAX_SHOWN,
    REMOVED,
    SAME,
    FieldChange,
    Side,
    compared,
    field_changes,
)
from crawler.html.content import ContentQuestion, content_of
from crawler.pdp import Facts

if TYPE_CHECKING:
    from crawler.archive.comparing import Comparison

BEFORE = "Shoes\nred\nPrice 10.00 EUR\nIn stock\nDelivery\nfast and free\nReviews\ngood"
AFTER = "Shoes\nred\nPrice 9.50 EUR\nIn stock\nDelivery\nfast and free\nnew\nSize\n42"


def texts(
    before: str, after: str, headings: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
) -> Comparison:
    """Two texts without titles."""
    return compared(Side.of("", before, headings[0]), Side.of("", after, headings[1]))


def lines(found: Comparison, change: str) -> list[str]:
    """The lines that were added, or removed."""
    return [line.text for part in found.sections for line in part.lines if line.change == change]


def test_lines_sections_and_words() -> None:
    """Exactly those that differ, under their headings."""
    found = texts(BEFORE, AFTER, ((0, 4, 6), (0, 4, 7)))
    assert lines(found, REMOVED) == ["Price 10.00 EUR", "Reviews", "good"]
    assert lines(found, ADDED) == ["Price 9.50 EUR", "new", "Size", "42"]
    assert [(part.heading, part.change) for part in found.sections] == [
        ("Shoes", "changed"), ("Delivery", "changed"), ("Reviews", "removed"), ("Size", "added"),
    ]  # fmt: skip
    assert found.summary == "2 sections changed; 1 added; 1 removed"
    old, new = (line.words for line in found.sections[0].lines if line.change != SAME)
    assert old == ((SAME, "Price "), (REMOVED, "10"), (SAME, "."), (REMOVED, "00"), (SAME, " EUR"))
    assert new == ((SAME, "Price "), (ADDED, "9"), (SAME, "."), (ADDED, "50"), (SAME, " EUR"))


def test_equal_headings_are_told_apart() -> None:
    """By their order."""
    page = "Size\n{}\nSize\n{}\nSize\n{}"
    found = texts(page.format(1, 2, 3), page.format(1, 5, 3), ((0, 2, 4), (0, 2, 4)))
    [part] = found.sections
    assert [line.text for line in part.lines] == ["Size", "2", "5"]


def test_what_differs_is_counted_before_it_is_cut() -> None:
    """Of a long list of changes the first are shown; a moved line is not the whole page."""
    found = texts("", "\n".join(map(str, range(5_000))))
    assert (found.added_lines, found.is_cut, len(lines(found, ADDED))) == (5_000, True, MAX_SHOWN)
    assert found.summary.endswith("(high-noise change)")
    before = "\n".join(f"line {n}" for n in range(200))
    found = texts(before, before.replace("line 50\n", "") + "\nline 50")
    assert found.summary == "1 line added; 1 removed"


NUMBERS = list(map(str, range(15_000)))
DICE = random.Random(1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a", "b"] * 7_000, ["b", "c"] * 7_000), (NUMBERS, DICE.sample(NUMBERS, len(NUMBERS))),
        (["w " * 2_000] * 500, [f"{'w ' * 2_000}{n}" for n in range(500)]),
        (["a"] * 30_000, ["a"] * 30_000 + ["b"]),
        (["a " * 400 + str(n) for n in range(500)], ["a " * 400 + str(-n) for n in range(500)]),
    ],
    ids=["repeated", "shuffled", "long lines", "endless", "equal words"],
)  # fmt: skip
def test_nasty_texts_are_compared_coarsely_rather_than_for_ever(before: list[str], after: list[str]) -> None:
    """The counts stay true: what is on one side, less what is on the other."""
    began = time.process_time()
    found = texts("\n".join(before), "\n".join(after))
    assert found.added_lines - found.removed_lines == len(after) - len(before)
    assert time.process_time() - began < 10


def test_any_two_texts() -> None:
    """Applied to the one side, what is told gives the other."""
    dice = random.Random(7)
    assert texts(BEFORE, BEFORE).change_ratio == 0
    for _ in range(300):
        before, after = (dice.choices("abcdefgh", k=dice.randrange(12)) for _ in "12")
        found = texts("\n".join(before), "\n".join(after))
        left = list(before)
        for gone in lines(found, REMOVED):
            left.remove(gone)
        assert sorted(left + lines(found, ADDED)) == sorted(after)


def test_facts_differ_as_fields() -> None:
    """Title always; facts where both sides have them."""
    old = Facts(name="Shoe", price=Decimal("10.00"), currency="EUR", availability="InStock", sku="1")
    new = evolve(old, price=Decimal("9.50"), availability="", sku="2")
    assert field_changes(old, new, ("a", "b")) == (
        FieldChange("title", "a", "b"), FieldChange("price", "10.00", "9.50"),
        FieldChange("availability", "InStock", None),
    )  # fmt: skip
    assert field_changes(None, new, ("a", "a")) == ()


TOKENS = (
    '<input type="hidden" name="csrf" value="{}">', "<script nonce='{}'>var token = '{}'</script>",
    '<meta name="csrf-token" content="{}">', "<!-- served by {} -->", '<div data-request-id="{}"></div>',
    '<img src="/p.gif?t={}" alt="">', '<link rel="stylesheet" href="/s.css?v={}">',
    '<a href="/b?sid={}">Buy</a>',
    '<form action="/cart?k={}"><button>Buy</button></form>', "<style>.a{} {{ color: red }}</style>",
)  # fmt: skip
EDITS = (
    ("12.00 EUR", "13.00 EUR"), ("In stock", "Sold out"), ("Blown by hand", "Blown by mouth"),
    ("2 years", "3 years"), ("A quiet lamp", "A quiet lamp of glass"),
    ("</ul>", "<li>Plug included</li></ul>"),
)  # fmt: skip


def shop_page(number: int, token: str) -> str:
    """A product's page with a token of some kind in its head, in its text, and at its end."""
    marks = [TOKENS[(number + at) % len(TOKENS)].replace("{}", f"{token}{at}") for at in range(3)]
    return (
        f"<title>Lamp {number}</title>{marks[0]}<main><h1>Lamp {number}</h1><p>A quiet lamp</p>{marks[1]}"
        "<h2>Price</h2><p>12.00 EUR</p><p>In stock</p><ul><li>Blown by hand</li><li>2 years</li></ul>"
        f"</main>{marks[2]}"
    )


def side_of(page: str) -> Side:
    """What is compared of a page."""
    found = content_of(ContentQuestion(page.encode(), "https://shop.example/"))
    return Side.of(found.title, found.text, found.headings)


def test_a_token_is_no_change_and_an_edit_beside_it_is() -> None:
    """In whichever place of the page a token stands; each of sixty edits with no line but its own."""
    for n in range(60):
        before, after = (side_of(shop_page(n, token)) for token in ("c0ffee", "decade"))
        assert compared(before, after).sections == (), n
        old, new = EDITS[n % len(EDITS)]
        found = compared(before, side_of(shop_page(n, "decade").replace(old, new)))
        assert (found.added_lines, found.removed_lines) == (1, 0 if old == "</ul>" else 1), (n, found)
