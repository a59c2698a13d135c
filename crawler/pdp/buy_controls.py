"""Every control on a page that buys something, by its label or by its platform's idiom."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.buy_labels import MAX_LABEL_CHARS, fold, read_label, speaking
from crawler.pdp.memo import Memo
from crawler.pdp.outline import Haystack
from crawler.pdp.place import ancestors
from crawler.pdp.platforms import (
    ADDRESSES,
    FIELDS,
    NAMES,
    ORDERS,
    PICTURES,
    QUANTITIES,
    SCRIPTS,
    WORDS_OF_ADDRESSES,
    WORDS_OF_PICTURES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from crawler.pdp.outline import Element, Outline

MAX_CONTROLS = 400
MAX_FIELDS = 400
MAX_CALLED_CHARS = 300
MAX_TEXT_CHARS = MAX_LABEL_CHARS * 8
FEW_WORDS = 8
MAX_FILE_CHARS = 60
MAX_NAMES_CHARS = 600
MAX_QUANTITIES = 12
MAX_SENDERS = 4
MAX_CLIMB = 6
_SENDING = "button:not([type=button]):not([type=reset]), input[type=submit], input[type=image]"
_NO_NUMBERS = {"hidden", "submit", "button", "image", "checkbox", "radio", "search", "email", "password"}
_TEXTLESS = frozenset({"input", "img"})
_CALLING = frozenset({"aria-label", "title"})  # attributes that call a control something
_PRESSABLE = {"submit", "button", "image"}
_SCRIPTED_TAGS = {"div", "span", "img", "li", "p", "td", "label", "strong", "b"}
# Attributes that hold what a click does, in plain pages and in those of the frameworks.
_CLICKS = frozenset(
    {
        *("onclick", "ng-click", "data-ng-click", "@click", "v-on:click", "x-on:click", "wire:click"),
        *("data-action", "data-button-action", "data-role", "data-event"),
    }
)


@frozen(eq=False)
class BuyControl:
    """A control that buys, what it says, and why it is taken for one."""

    element: Element
    label: str
    reason: str  # add, buy or waiting by its label, or idiom


def buy_controls(outline: Outline) -> list[BuyControl]:
    """Find the controls in document order; related products' and repeated ones are among them."""
    found: dict[int, BuyControl] = {}
    for control in _candidates(outline):  # an idiom says more than a label that only speaks of buying
        found.setdefault(control.element.order, control)
    return [found[order] for order in sorted(found)][:MAX_CONTROLS]


def _candidates(outline: Outline) -> Iterator[BuyControl]:
    for element in outline.hinted("buy"):
        may_buy = element.tag == "form" or _is_pressable(element)
        if may_buy and NAMES.search(element.names()[:MAX_NAMES_CHARS]):
            yield _idiom(element)
    for form in outline.all("form"):
        if ADDRESSES.search(form.get("action")[:500]):
            yield _idiom(form)
    yield from _by_target(outline)
    yield from _by_hidden_field(outline)
    yield from _by_picture(outline)
    yield from _labelled(outline)
    yield from _by_quantity(outline)


def _idiom(element: Element) -> BuyControl:
    return BuyControl(element, "" if element.tag == "form" else fold(label_of(element)), "idiom")


def _by_target(outline: Outline) -> Iterator[BuyControl]:
    """Links that lead into a cart, fields that are named for it, and what a click puts there."""
    pressable = list(outline.all("a", "button", "input"))
    leading = [(element, href) for element in pressable if (href := element.attributes.get("href"))]
    ordering = _ORDERS.among(href for _, href in leading)
    yield from (_idiom(element) for element, href in leading if href in ordering)
    for element in outline.all("button", "input"):
        name = element.attributes.get("name")
        if name and FIELDS.search(name[:500]):
            yield _idiom(element)
    clicks = _CLICKS & outline.attribute_names
    if clicks:
        yield from (_idiom(element) for element in pressable if _puts_by_click(element, clicks))


def _that_order(addresses: list[str]) -> dict[str, bool]:
    """The addresses that put something into a cart."""
    likely = Haystack.of(address[:500] for address in addresses).places(WORDS_OF_ADDRESSES)
    found = (addresses[place] for place in likely)
    return {address: True for address in found if ADDRESSES.search(address[:500].replace("\n", " "))}


_ORDERS = Memo(_that_order)


def _by_hidden_field(outline: Outline) -> Iterator[BuyControl]:
    """Forms with a field that nobody sees and that tells the shop to put something into a cart."""
    orders = [
        field
        for field in outline.by_tag["input"][:MAX_FIELDS]
        if field.get("type").lower() == "hidden"
        and ORDERS.match(f"{field.get('name')[:100]}={field.get('value')[:100]}")
    ]
    forms = {form.node.mem_id: form for form in outline.by_tag["form"]} if orders else {}
    yield from (_idiom(form) for field in orders if (form := _form_around(field, forms)))


def _by_picture(outline: Outline) -> Iterator[BuyControl]:
    """Controls that are pictures, by the name of the picture's file."""
    for field in outline.by_tag["input"]:
        if field.get("type").lower() == "image" and PICTURES.search(field.get("src")[-MAX_FILE_CHARS:]):
            yield _idiom(field)
    images = outline.by_tag["img"]
    sources = Haystack.of(image.get("src")[-MAX_FILE_CHARS:] for image in images)
    found = [images[place].node for place in sources.places(WORDS_OF_PICTURES)]
    named = [node for node in found if PICTURES.search((node.attributes.get("src") or "")[-MAX_FILE_CHARS:])]
    pressed = {around.mem_id for node in named for around in ancestors(node, 2)}
    if pressed:
        yield from (_idiom(link) for link in outline.all("a", "button") if link.node.mem_id in pressed)


def _puts_by_click(element: Element, clicks: frozenset[str]) -> bool:
    attributes = element.attributes
    return not clicks.isdisjoint(attributes) and any(
        SCRIPTS.search((attributes[name] or "")[:500].replace("\n", " "))
        for name in clicks.intersection(attributes)
    )


def _by_quantity(outline: Outline) -> Iterator[BuyControl]:
    """What sends a form that asks how many, whatever it says: it waits for a title and a price beside it."""
    asked = [
        field
        for field in islice(outline.all("input", "select"), MAX_FIELDS)
        if QUANTITIES.search(f"{field.get('name')[:60]} {field.get('id')[:60]}")
        and field.get("type").lower() not in _NO_NUMBERS
    ]
    senders = {node.mem_id for field in asked[:MAX_QUANTITIES] for node in _senders_beside(field.node)}
    if senders:
        for element in outline.all("button", "input"):
            if element.node.mem_id in senders and len(label := fold(label_of(element))) != 1:  # no + or -
                yield BuyControl(element, label, "waiting")


def _senders_beside(field: LexborNode) -> list[LexborNode]:
    """What is pressed in the smallest block around a field that holds such a thing, if it is a small one."""
    found = (block.css(_SENDING) for block in ancestors(field, MAX_CLIMB))
    return next(filter(None, found), [])[:MAX_SENDERS]


def _form_around(field: Element, forms: dict[int, Element]) -> Element | None:
    around = (forms.get(block.mem_id) for block in ancestors(field.node))
    return next(filter(None, around), None)


def _labelled(outline: Outline) -> Iterator[BuyControl]:
    pressable = [
        *outline.by_tag["button"],
        *filter(_is_pressable, outline.by_tag["input"]),
        *outline.by_tag["a"],
        *outline.pressed,
    ]
    # Themes also make buy controls of elements that nobody can press without a script; their names tell.
    pressable += [element for element in outline.hinted("buy") if element.tag in _SCRIPTED_TAGS]
    said = [(element, _said_by(element)) for element in pressable]
    if not _CALLING.isdisjoint(outline.attribute_names):
        called = (element for element in pressable if not _CALLING.isdisjoint(element.attributes))
        said += [(element, label) for element in called for label in _read_out(element)]
    waiting: list[BuyControl] = []  # what it is read out as may say more
    for place in speaking([label for _, label in said]):
        element, label = said[place]
        kind, folded = read_label(_one_line(label))
        if kind == "waiting":
            waiting.append(BuyControl(element, folded, kind))
        elif kind:
            yield BuyControl(element, folded, kind)
    yield from waiting


def _read_out(element: Element) -> list[str]:
    """What a control is called for those who do not see it; of a long sentence its beginning, and both ends.

    The name of the product stands in the middle: `Add the blue jug of Acme Pottery to your cart`.
    """
    called = [element.attributes.get("aria-label")]
    leads_on = element.tag == "a" and element.get("href").startswith(("/", "http"))
    if element.tag in {"a", "button", "input"} and not leads_on:
        called.append(element.attributes.get("title"))
    brief: list[str] = []
    for words in (text[:MAX_CALLED_CHARS].split() for text in called if text):
        if len(words) <= FEW_WORDS:
            brief.append(" ".join(words))
        else:
            brief += [" ".join(words[:5]), " ".join((words[0], *words[-4:]))]
    return brief


def _is_pressable(element: Element) -> bool:
    if element.tag == "input":
        return element.get("type").lower() in _PRESSABLE
    return element.tag in {"button", "a"} or element.get("role") == "button" or "-" in element.tag


def label_of(element: Element) -> str:
    """What a control says: its text, or what stands in for a text."""
    return _one_line(_text_of(element)) or _one_line(_stand_in(element))


def _said_by(element: Element) -> str:
    """What a control says as it stands in the page, however long."""
    if element.tag in _TEXTLESS:
        text = _text_of(element)
    else:
        text = element.node.text(separator=" ")[:MAX_TEXT_CHARS]
    return text if text and not text.isspace() else _stand_in(element)


def _text_of(element: Element) -> str:
    if element.tag in _TEXTLESS:
        return element.get("value") if element.tag == "input" else ""
    return element.node.text(separator=" ")[:MAX_TEXT_CHARS]


def _stand_in(element: Element) -> str:
    """What a control is called that has no text, or too much."""
    if element.tag in _TEXTLESS:
        return element.get("alt") or element.get("title")
    return (
        element.get("aria-label") or element.get("title") or element.get("data-label") or _image_text(element)
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LABEL_CHARS else ""


def _image_text(element: Element) -> str:
    image = element.node.css_first("img")
    if image is None:
        return ""
    return image.attributes.get("alt") or image.attributes.get("title") or ""
