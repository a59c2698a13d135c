"""Every control on a page that buys something, by its label or by its platform's idiom."""

from __future__ import annotations

from functools import lru_cache
from itertools import compress, islice
from typing import TYPE_CHECKING

from attrs import frozen

from crawler.pdp.buy_labels import MAX_LABEL_CHARS, READ, fold, one_line
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

    from crawler.pdp.outline import Attributes, Element, Elements, Outline

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
_TITLED = {"a", "button", "input"}
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
    elements, pressable = outline.elements, outline.by_tag.places("a", "button", "input")
    attributes = [elements.attributes[place] for place in pressable]
    ordering = _ORDERS.each([each.get("href") or None for each in attributes])
    yield from map(_idiom, elements.at(compress(pressable, ordering)))
    for place in outline.by_tag.places("button", "input"):
        name = elements.attributes[place].get("name")
        if name and FIELDS.search(name[:500]):
            yield from map(_idiom, elements.at((place,)))
    clicks = _CLICKS & elements.attribute_names
    if clicks:
        clicked = (_puts_by_click(each, clicks) for each in attributes)
        yield from map(_idiom, elements.at(compress(pressable, clicked)))


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


def _puts_by_click(attributes: Attributes, clicks: frozenset[str]) -> bool:
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
    elements, attributes = outline.elements, outline.elements.attributes
    pressable = [
        *outline.by_tag.places("button"),
        *(place for place in outline.by_tag.places("input") if _is_pressed("input", attributes[place])),
        *outline.by_tag.places("a"),
        *(element.order for element in outline.pressed),
    ]
    # Themes also make buy controls of elements that nobody can press without a script; their names tell.
    pressable += [element.order for element in outline.hinted("buy") if element.tag in _SCRIPTED_TAGS]
    said = list(zip(pressable, READ.each([_said_by(elements, place) for place in pressable]), strict=True))
    if not _CALLING.isdisjoint(elements.attribute_names):
        said += _read_out(elements, pressable)
    waiting: list[BuyControl] = []  # what it is read out as may say more
    for place, found in said:
        if found is not None:
            kind, folded = found
            [element] = elements.at((place,))
            control = BuyControl(element, folded, kind)
            if kind == "waiting":
                waiting.append(control)
            else:
                yield control
    yield from waiting


def _read_out(elements: Elements, pressable: list[int]) -> Iterator[tuple[int, tuple[str, str] | None]]:
    """What controls say to those who do not see them."""
    called = [place for place in pressable if not _CALLING.isdisjoint(elements.attributes[place])]
    told = [(place, label) for place in called for label in _called(elements, place)]
    labels = [(place, brief) for place, label in told for brief in _brief(label)]
    answers = READ.each([label for _, label in labels])
    return ((place, answer) for (place, _), answer in zip(labels, answers, strict=True))


def _called(elements: Elements, place: int) -> Iterator[str]:
    """What a control is called; the title of a link that leads on is that of where it leads."""
    attributes, tag = elements.attributes[place], elements.tags[place]
    if label := attributes.get("aria-label"):
        yield label
    leads_on = tag == "a" and (attributes.get("href") or "").startswith(("/", "http"))
    if tag in _TITLED and not leads_on and (title := attributes.get("title")):
        yield title


@lru_cache(maxsize=4096)
def _brief(label: str) -> tuple[str, ...]:
    """What a control is called, briefly: of a long sentence its beginning, and both ends.

    The name of the product stands in the middle: `Add the blue jug of Acme Pottery to your cart`.
    """
    words = label[:MAX_CALLED_CHARS].split()
    if len(words) <= FEW_WORDS:
        return (" ".join(words),)
    return " ".join(words[:5]), " ".join((words[0], *words[-4:]))


def _is_pressable(element: Element) -> bool:
    return _is_pressed(element.tag, element.attributes)


def _is_pressed(tag: str, attributes: Attributes) -> bool:
    if tag == "input":
        return (attributes.get("type") or "").lower() in _PRESSABLE
    return tag in {"button", "a"} or attributes.get("role") == "button" or "-" in tag


def label_of(element: Element) -> str:
    """What a control says: its text, or what stands in for a text."""
    return one_line(_text_of(element)) or one_line(_stand_in(element))


def _said_by(elements: Elements, place: int) -> str:
    """What a control says as it stands in the page, however long."""
    if elements.tags[place] not in _TEXTLESS:
        text = elements.nodes[place].text(separator=" ")[:MAX_TEXT_CHARS]
        if text and not text.isspace():
            return text
    [element] = elements.at((place,))
    text = _text_of(element)
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


def _image_text(element: Element) -> str:
    image = element.node.css_first("img")
    if image is None:
        return ""
    return image.attributes.get("alt") or image.attributes.get("title") or ""
