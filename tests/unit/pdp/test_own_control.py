"""Which buy controls are the page's own."""

from __future__ import annotations

import pytest

from tests.unit.pdp.pages import page

OWN = '<h1>Jug</h1><img src="/j.png"><p class="price">€48.00</p><button class="own">Add to cart</button>'
TILE = (
    '<li class="tile"><a href="/p/{0}"><img src="/{0}.png"><h3>Cup number {0}</h3></a>'
    '<b class="price">€{0}.00</b><button class="add">Add to cart</button></li>'
)
TILES = "".join(TILE.format(number) for number in range(1, 5))
BUTTON = '<button class="{}">Add to cart</button>'
BUTTONS = ("", "", "", BUTTON.format("add"))
SOLD_OUT = OWN.replace(BUTTON.format("own"), "<b>Sold out</b>")
TILE_WITHOUT_NAME = (
    '<li class="tile"><a href="/p/{0}"><img src="/{0}.png"></a><b class="price">€{0}.00</b>{1}</li>'
)


def own(html: str) -> list[str]:
    """The classes of the page's own controls."""
    return [control.element.get("class") for control in page(html).controls]


@pytest.mark.parametrize(
    "around",
    [
        "",
        f'<section class="related"><ul>{TILES}</ul></section>',
        f"<ul>{TILES}</ul>",
        '<div class="mini-cart"><button>Buy now</button></div>',
        "<footer><button>Buy now</button></footer>",
    ],
)
def test_the_page_has_its_own_beside_others(around: str) -> None:
    """However many tiles have one too."""
    assert own(f"<main>{OWN}</main>{around}") == ["own"]


@pytest.mark.parametrize(
    "html",
    [
        f"<h1>Cups</h1><ul>{TILES}</ul>",
        f"<h1>Cups</h1><ul>{TILE.format(1)}{TILE.format(2)}</ul>",
        f"<main>{SOLD_OUT}</main><ul>{''.join(map(TILE_WITHOUT_NAME.format, '1234', BUTTONS))}</ul>",
        f'<h1>About us</h1><div class="recommended">{TILE.format(1)}</div>',
        '<h1>Jug</h1><form><input type="password"><button>Buy now</button></form>',
        '<h1>Best jugs</h1><p>€48.00</p><a href="https://other.example/jug">Buy</a>',
    ],
)
def test_a_page_may_have_none(html: str) -> None:
    """Those of tiles, of related products, of logins, and links that lead to another shop."""
    assert own(html) == []


def test_one_that_waits_counts_where_no_other_is_own() -> None:
    """A size is to be selected first."""
    waiting = '<button class="waits">Select a size</button>'
    alone = OWN.replace('<button class="own">Add to cart</button>', waiting)
    assert own(f"<main><div>{alone}</div></main>") == ["waits"]
    assert own(f"<main><div>{OWN}{waiting}</div></main>") == ["own"]


def test_the_same_control_may_stand_there_twice() -> None:
    """In a bar that stays in view."""
    assert own(f'<main>{OWN}</main><div class="bar"><button class="bar">Add to cart</button></div>') == [
        "own", "bar",
    ]  # fmt: skip


def test_ways_to_get_one_thing_are_no_grid() -> None:
    """Three buttons of one shape side by side that each say something else."""
    ways = "".join(f"<li><button>{way}</button></li>" for way in ("Add to cart", "Buy now", "Buy with Purse"))
    assert len(own(f'<h1>Jug</h1><img src="/j.png"><p class="price">€48.00</p><ul>{ways}</ul>')) == 3


def test_things_under_headings_of_their_own_are_a_list() -> None:
    """Whatever their shapes are; editions repeat the title."""
    thing = '<div class="{0}c"><h3>{1}</h3><b>€9</b><button class="{0}b">Add to cart</button></div>'
    names = ("Bird feeder", "Wall mount", "Suet ball holder")
    listed = "".join(thing.format(name.split()[0], name) for name in names)
    editions = "".join(thing.format(name.split()[0], f"Kiln {name}") for name in names)
    assert own(f"<div><h1>Shop</h1></div>{listed}") == []
    assert len(own(f"<div><h1>Kiln</h1></div>{editions}")) == 3


def test_a_form_that_asks_how_many_waits_for_title_and_price() -> None:
    """Whatever its button says; an order of many lines or a search is none."""
    form = '<form><input name="qty" value="1"><button class="send">Ja!</button></form>'
    assert own(f'<main><h1>Jug</h1><p class="price">€48.00</p>{form}</main>') == ["send"]
    assert own(f"<main><h1>Jug</h1>{form}</main>") == []
    assert own(f'<main><h1>Your cart</h1><p class="price">€48.00</p>{form}</main>') == []


@pytest.mark.parametrize(
    "label", ["Fechar pedido", "Finalizar compra", "Passer commande", "Do kasy", "去结算"]
)
def test_a_checkout_buys_nothing_of_the_page(label: str) -> None:
    """It stands in the cart that many themes show on every page."""
    assert own(f'<div><button class="btn-cart">{label}</button></div><h1>Jugs</h1>') == []
