"""The shops of the demo: who they are, what each is for, and how a visit to it should end."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import evolve, frozen

from crawler.errors import UsageError


class Markup(Enum):
    """How a product page tells machines what it sells."""

    JSON_LD = "JSON-LD"
    GRAPH = "JSON-LD @graph"
    MICRODATA = "microdata"
    NONE = "none"


class Buy(Enum):
    """Which element the buy button is."""

    BUTTON = "button"
    INPUT = "input"
    LINK = "link"


class Layout(Enum):
    """What the start page is."""

    STOREFRONT = "storefront"
    HUB = "hub"
    STORY = "story"
    ONE_PRODUCT = "one product"
    DECOYS = "decoys"
    GUARDED = "guarded"


class Robots(Enum):
    """What /robots.txt answers."""

    USUAL = "usual"
    FORBIDS_ALL = "forbids all"
    BROKEN = "status 500"


@frozen
class Shop:
    """One shop: a domain of its own, and everything that decides what it answers."""

    name: str  # the last label of its host name before the suffix
    title: str
    purpose: str  # why it is here, in one line
    language: str = "en"
    currency: str = "USD"
    markup: Markup = Markup.JSON_LD
    buy: Buy = Buy.BUTTON
    product_path: str = "/products/{}"
    layout: Layout = Layout.STOREFRONT
    robots: Robots = Robots.USUAL
    crawl_delay: int = 0  # seconds, told in robots.txt when not 0
    in_stock: bool = True
    prices_move: bool = False
    related_buy: bool = False  # whether the tiles of related products have buy buttons too
    scenario: str = ""  # how it misbehaves, a name in SCENARIOS
    only_start: bool = False  # whether it misbehaves on its start page alone
    colours: tuple[str, str] = ("#1f4e46", "#f6f3ec")  # accent and paper
    status: str = "completed"  # how a session that visits it should end
    summary: str = ""  # with which error summary


_ORDINARY = (
    Shop("plain", "Hollin & Wick", "an ordinary English shop with JSON-LD"),
    Shop(
        "german",
        "Kontor Lindgrün",
        "German, euro, JSON-LD inside @graph, buy buttons on related tiles too",
        language="de",
        currency="EUR",
        markup=Markup.GRAPH,
        product_path="/p/{}",
        related_buy=True,
        colours=("#5b6b1e", "#f7f7ef"),
    ),
    Shop(
        "french",
        "Maison Aubépine",
        "French, euro, microdata instead of JSON-LD",
        language="fr",
        currency="EUR",
        markup=Markup.MICRODATA,
        product_path="/shop/{}",
        colours=("#7a2e4d", "#fbf5f3"),
    ),
    Shop(
        "spanish",
        "Taller Almendro",
        "Spanish, euro, no structured data, the buy button is a link",
        language="es",
        currency="EUR",
        markup=Markup.NONE,
        buy=Buy.LINK,
        product_path="/item/{}",
        colours=("#a3471d", "#fdf7ef"),
    ),
    Shop(
        "polish",
        "Pracownia Jarzębina",
        "Polish, złoty, JSON-LD",
        language="pl",
        currency="PLN",
        product_path="/product/{}",
        colours=("#9c2a1f", "#faf6f0"),
    ),
    Shop(
        "japanese",
        "硝子と木 ひなた",
        "Japanese, yen, no structured data, the buy button is an input",
        language="ja",
        currency="JPY",
        markup=Markup.NONE,
        buy=Buy.INPUT,
        product_path="/items/{}",
        colours=("#2f4b6e", "#f4f5f2"),
    ),
    Shop(
        "swiss",
        "Kontor Lindgrün Zürich",
        "German, francs with the currency in front",
        language="de",
        currency="CHF",
        product_path="/p/{}",
        colours=("#37474f", "#f5f6f6"),
    ),
)

_SHAPES = (
    Shop(
        "hub",
        "Corner & Quay Market",
        "prices and buy buttons on every tile, but no product page anywhere",
        layout=Layout.HUB,
        colours=("#0d5c8c", "#f3f8fa"),
        status="partial",
        summary="PDP not found",
    ),
    Shop(
        "no-links",
        "The Glasshouse Workshop",
        "a start page that links to no product",
        layout=Layout.STORY,
        colours=("#4d4a7c", "#f6f5fa"),
        status="partial",
        summary="PDP not found",
    ),
    Shop(
        "price-changes",
        "Tide & Tally",
        "every fetch of a product page moves its price; or a day decides, once one is set",
        currency="GBP",
        prices_move=True,
        colours=("#0f5d5d", "#f1f7f6"),
    ),
    Shop("sold-out", "Last Lantern", "products that are out of stock", in_stock=False),
    Shop(
        "start-is-product",
        "The One Cabinet",
        "the start page is itself the product page",
        layout=Layout.ONE_PRODUCT,
        colours=("#6b4226", "#faf5ee"),
    ),
    Shop(
        "fourth-candidate",
        "Thrice & Then Some",
        "the first three candidates are no product pages, the fourth is",
        layout=Layout.DECOYS,
    ),
    Shop(
        "guarded",
        "Mind the Door",
        "the first candidate is forbidden by robots.txt, the second is not",
        layout=Layout.GUARDED,
    ),
    Shop(
        "robots-forbids",
        "Please Keep Out",
        "robots.txt forbids everything",
        robots=Robots.FORBIDS_ALL,
        status="failed",
    ),
    Shop(
        "robots-500",
        "Porter Asleep",
        "robots.txt answers 500",
        robots=Robots.BROKEN,
        status="failed",
    ),
    Shop("crawl-delay", "Unhurried Goods", "robots.txt asks for two seconds between requests", crawl_delay=2),
)


def _misbehaving(name: str, purpose: str, status: str, summary: str = "", **more: Any) -> Shop:
    more |= {"scenario": name, "colours": ("#5a5a5a", "#f5f5f5"), "status": status, "summary": summary}
    return Shop(name, f"Trouble & Sons ({name})", purpose, **more)


_TROUBLES = (
    _misbehaving("slow", "every page takes a second and a half", "completed"),
    _misbehaving("404", "nothing is found", "failed", "Navigation failed"),
    _misbehaving("403", "everything is forbidden", "failed", "Blocked (403/503)"),
    _misbehaving("429", "too many requests, with Retry-After", "failed", "Rate limited (429)"),
    _misbehaving("429-bare", "too many requests, without Retry-After", "failed", "Rate limited (429)"),
    _misbehaving("503", "unavailable, with Retry-After", "failed", "Blocked (403/503)"),
    _misbehaving("503-recovers", "unavailable for two requests, then well", "completed"),
    _misbehaving("redirect", "the start page is elsewhere for now", "completed", only_start=True),
    _misbehaving("redirect-permanent", "the start page has moved for good", "completed", only_start=True),
    _misbehaving("redirect-www", "sends every visitor to its www host", "completed"),
    _misbehaving("redirect-host", "sends every visitor to its m host, another host of the site", "completed"),
    _misbehaving("redirect-away", "sends every visitor to another site", "completed"),
    _misbehaving("redirect-loop", "redirects in a circle", "failed", "Navigation failed"),
    _misbehaving("bot-block", "status 200 with a captcha instead of the page", "failed", "Bot-block"),
    _misbehaving("bot-block-clears", "a captcha that is gone after one reload", "completed"),
    _misbehaving("truncated", "half the body, then the connection closes", "failed"),
    _misbehaving(
        "charset", "declares UTF-8 and sends Windows-1252", "completed", language="fr", currency="EUR"
    ),
    _misbehaving(
        "charset-reversed", "declares ISO-8859-1 and sends UTF-8", "completed", language="pl", currency="PLN"
    ),
    _misbehaving("empty", "status 200 and no body", "failed"),
    _misbehaving("binary", "an image served as text/html", "failed"),
    _misbehaving("endless", "a body without end (it ends at 512 MB)", "failed"),
    _misbehaving("gzip-bomb", "a small gzip body that unfolds to 256 MB", "failed"),
    _misbehaving("reset", "the connection is reset before any answer", "failed", "Navigation failed"),
    _misbehaving("huge-headers", "256 KB of response headers", "completed"),
)

# Shops that are themselves in a browser only; the end is that of a plain visit.
_SCENES = (
    _misbehaving(
        "script-only", "pages that are empty until their script has run", "partial", "PDP not found"
    ),
    _misbehaving("consent-banner", "a consent banner, kept away by a cookie", "completed"),
    _misbehaving("consent-dialog", "a consent dialog with unusual words", "completed"),
    _misbehaving("consent-shadow", "a consent wall in a shadow tree", "completed"),
    _misbehaving("newsletter", "a modal that wants an address", "completed"),
    _misbehaving("overlay", "a curtain without a button", "completed"),
    _misbehaving("moves-on", "pages that lead on, or load themselves again", "completed"),
    _misbehaving("banner-in-frame", "a German banner in another host's frame", "completed"),
    _misbehaving("lazy", "pictures that come when they are seen", "completed"),
    _misbehaving("endless-scroll", "pages without an end", "completed"),
    _misbehaving("never-idle", "pages that never stop asking", "completed"),
    _misbehaving("download", "a file among the products", "completed"),
    _misbehaving("probing", "pages that knock at private addresses", "completed"),
)

SHOPS: dict[str, Shop] = {shop.name: shop for shop in (*_ORDINARY, *_SHAPES, *_TROUBLES, *_SCENES)}

# Six that tell the story: three countries, a page that is none, a refusal, and a price that moves.
DEMO_SIX: tuple[Shop, ...] = tuple(
    SHOPS[name] for name in ("plain", "german", "japanese", "hub", "bot-block", "price-changes")
)

_BULK = Shop("shop", "Hollin & Wick", "one of many equal shops")
_BULK_COLOURS = ("#1f4e46", "#5b6b1e", "#7a2e4d", "#a3471d", "#2f4b6e", "#6b4226")
MAX_BULK = 9999


def bulk_name(number: int) -> str:
    """The name of the bulk shop with that number: `shop-0001` and so on."""
    return f"shop-{number:04}"


def bulk_shop(number: int) -> Shop:
    """The bulk shop with that number: the plain assortment under a sign of its own."""
    return evolve(
        _BULK,
        name=bulk_name(number),
        title=f"Hollin & Wick No. {number}",
        colours=(_BULK_COLOURS[number % len(_BULK_COLOURS)], "#f6f3ec"),
    )


def all_shops(bulk: int) -> dict[str, Shop]:
    """Every named shop and the first `bulk` numbered ones, by name."""
    if not 0 <= bulk <= MAX_BULK:
        raise UsageError(f"bulk={bulk} is not a number of shops from 0 to {MAX_BULK}")
    numbered = (bulk_shop(number) for number in range(1, bulk + 1))
    return SHOPS | {shop.name: shop for shop in numbered}
