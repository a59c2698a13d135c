"""What on a page may be a buy control."""

from __future__ import annotations

import pytest

from crawler.pdp.buy_controls import buy_controls, label_of
from tests.unit.pdp.pages import page


@pytest.mark.parametrize(
    "html",
    [
        "<button>Add to cart</button>",
        '<input type="submit" value="In den Warenkorb">',
        '<a href="/cart?add=1">Ajouter au panier</a>',
        '<div role="button">カートに入れる</div>',
        '<button aria-label="Add to bag"><svg></svg></button>',
        '<a href="/order/1"><img alt="Buy now" src="b.png"></a>',
        '<form action="/cart/add"><button type="submit">Go</button></form>',
        '<button class="single_add_to_cart_button">OK</button>',
        '<button name="add-to-cart" value="5">OK</button>',
        '<button onclick="addToCart(5)">OK</button>',
        "<button>Select a size</button>",
        "<button>Sold out</button>",
    ],
)
def test_what_may_be_one(html: str) -> None:
    """By its label in many languages, by a platform's idiom, or by what it waits for."""
    body = f'<h1>Jug</h1><p class="price">€48.00</p>{html}'
    assert [control.element.tag for control in buy_controls(page(body).outline)]


@pytest.mark.parametrize(
    "html",
    [
        "<button>Add to wishlist</button>",
        "<button>Sign in</button>",
        "<a href='/cart'>View cart</a>",
        "<a href='/checkout'>Checkout</a>",
        "<button>Size guide</button>",
        "<button>Subscribe</button>",
        "<button hidden></button>",
        "<p>Add to cart</p>",
    ],
)
def test_what_is_none(html: str) -> None:
    """Near to it, but nothing is bought there."""
    assert buy_controls(page(f"<h1>Jug</h1>{html}").outline) == []


@pytest.mark.parametrize(
    ("html", "label"),
    [
        ("<button>Add <b>to</b>\n cart</button>", "add to cart"),
        ('<button title="Add to cart"></button>', "add to cart"),
    ],
)
def test_a_label_is_what_a_person_is_told(html: str, label: str) -> None:
    """Its text; where that says nothing, what stands in for it."""
    [button] = page(html).outline.by_tag["button"]
    assert label_of(button).lower() == label
