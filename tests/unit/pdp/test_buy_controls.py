"""What on a page may be a buy control."""

from __future__ import annotations

import pytest

from crawler.pdp.buy_controls import buy_controls
from tests.unit.pdp.pages import page


@pytest.mark.parametrize(
    "html",
    [
        "<button>Add to cart</button>",
        '<input type="submit" value="In den Warenkorb">',
        '<a href="/cart?add=1">Ajouter au panier</a>',
        '<button aria-label="Add to bag"><svg></svg></button>',
        '<form action="/cart/add"><button type="submit">Go</button></form>',
        '<button class="single_add_to_cart_button">OK</button>',
        '<button name="add-to-cart" value="5">OK</button>',
        '<button onclick="addToCart(5)">OK</button>',
        "<button>Select a size</button>",
        "<button>Sold out</button>",
        '<button title="Ajouter le grand pichet bleu en grès de Jarres au panier">Je fonce</button>',
        '<button class="atc-button">OK</button>',
        '<form class="buy-form"><button>OK</button></form>',
        '<form action="/cart_items" method="post"><button>OK</button></form>',
        '<button name="dispatch[checkout.add..12]">OK</button>',
        '<form action="/"><input type="hidden" name="fnc" value="tobasket"><button>OK</button></form>',
        '<form action="/"><input type="hidden" name="products_id" value="12"><button>OK</button></form>',
        '<form action="/"><input name="qty" value="1"><button>OK</button></form>',
        '<a href="javascript:void(0)" onclick="buy(12)"><img src="/p.png"></a>',
        '<input type="image" src="/images/add_to_cart.gif">',
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
        "<a href='/cart'>View cart</a>",
        "<a href='/checkout'>Checkout</a>",
        "<button>Size guide</button>",
        "<button hidden></button>",
        "<p>Add to cart</p>",
        '<a href="/cart"><img src="/img/cart.gif"></a>',
        '<form action="/search"><input name="quality"><button>Go</button></form>',
        '<form action="/"><input type="hidden" name="qty"><button>Go</button></form>',
        '<a href="/help" title="How to add things to the cart that you have in mind">Help</a>',
    ],
)
def test_what_is_none(html: str) -> None:
    """Near to it, but nothing is bought there."""
    assert buy_controls(page(f"<h1>Jug</h1>{html}").outline) == []
