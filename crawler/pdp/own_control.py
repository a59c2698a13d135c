"""Which of a page's buy controls are those of its own product."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from crawler.errors import BadUrlError
from crawler.html.visible import text_of
from crawler.pdp.buy_labels import MAX_LABEL_CHARS, is_about_something_else
from crawler.pdp.money import find_in_prose
from crawler.pdp.place import Surroundings, ancestors, shape_of
from crawler.pdp.title import bare_address, words_of
from crawler.urls import same_site

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from crawler.pdp.buy_controls import BuyControl
    from crawler.pdp.outline import Element

# A page may show its own control twice, beside the product and in a bar that stays in view.
REPEATED_FROM = 3
PAIRS_OF_GRID = 2
_ORDERING = re.compile(
    r"\?|cart|basket|bag|buy|order|checkout|purchase|bestell|korb|panier|command|carrello|ordin|acquist|compr"
    r"|korz|kosik|koszyk|zakaz|kup|add",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
MAX_ALTERNATIVES = 5
MAX_SINGLE = 40  # a page has one, or a few; each is looked at closely
NEAR = 6
NEAR_CHARS = 400
NEAR_TITLE_CHARS = 2_500


def own_controls(controls: list[BuyControl], around: Surroundings, url: str) -> list[BuyControl]:
    """The controls that are no tile's, no related product's and no banner's, in document order."""
    repeated, single = _parted(controls)
    looks = {look for control in repeated for look in _looks(control)}
    grids = _grids(repeated)
    own = [
        control
        for control in single[:MAX_SINGLE]
        if _is_own(control, around, url)
        # What looks like the repeated ones and stands in their grid is in its last row, say.
        and (
            looks.isdisjoint(_looks(control))
            or not any(block.mem_id in grids for block in ancestors(control.element.node))
        )
    ]
    own = [control for control in own if control.reason != "waiting"] or own
    return _of_one_subject(own, around) if len(own) >= REPEATED_FROM else own


def _of_one_subject(controls: list[BuyControl], around: Surroundings) -> list[BuyControl]:
    """The controls without those under three or more headings that do not repeat the title."""
    known: dict[int, str | None] = {}
    headings = [_heading_beside(control.element.node, around, known) for control in controls]
    others = {heading for heading in headings if heading and not around.is_named_in(heading)}
    if len(others) < REPEATED_FROM:
        return controls
    return [control for control, heading in zip(controls, headings, strict=True) if heading not in others]


def _heading_beside(node: LexborNode, around: Surroundings, known: dict[int, str | None]) -> str:
    """The words of the nearest heading; none where the title is as near. A block is looked through once."""
    for block in ancestors(node):
        identity = block.mem_id
        if identity in around.titled:
            return ""
        if identity not in known:
            heading = block.css_first("h1, h2, h3, h4, h5")
            known[identity] = words_of(heading.text()) if heading is not None else None
        words = known[identity]
        if words is not None:
            return words
    return ""


def _grids(repeated: list[BuyControl]) -> frozenset[int]:
    """The blocks that hold more than one pair of neighbouring repeated controls, and nothing smaller does."""
    chains = [[block.mem_id for block in ancestors(control.element.node)] for control in repeated]
    shared = Counter(
        next((block for block in one if block in set(other)), 0) for one, other in pairwise(chains)
    )
    return frozenset(block for block, pairs in shared.items() if pairs >= PAIRS_OF_GRID)


def _parted(controls: list[BuyControl]) -> tuple[list[BuyControl], list[BuyControl]]:
    """Those that stand in one shape or lead to one address too often, and the others."""
    shapes: defaultdict[tuple[str, ...], list[BuyControl]] = defaultdict(list)
    for control in controls:
        shapes[shape_of(control.element.node)].append(control)
    alike = {id(control) for group in shapes.values() if _is_grid(group) for control in group}
    targets = [
        _DIGITS.sub("", control.element.get("href")) if control.reason == "idiom" else ""
        for control in controls
    ]
    aimed = Counter(filter(None, targets))
    repeated: list[BuyControl] = []
    single: list[BuyControl] = []
    for control, target in zip(controls, targets, strict=True):
        is_repeated = id(control) in alike or aimed[target] >= REPEATED_FROM
        (repeated if is_repeated else single).append(control)
    return repeated, single


def _is_grid(group: list[BuyControl]) -> bool:
    """Whether controls of one shape are those of tiles: two with a picture and a link each, or more."""
    if len(group) != REPEATED_FROM - 1:
        return len(group) >= REPEATED_FROM and not _are_alternatives(group)
    tiles = _tiles(group)
    if all(tile is not None and _is_tile(tile) for tile in tiles) or _differ(tiles):
        return True
    return group[0].label == group[1].label and _are_columns(tiles)


def _tiles(group: list[BuyControl]) -> list[LexborNode | None]:
    """What is around each control alone: the largest block that holds none of the others."""
    chains = [[control.element.node, *ancestors(control.element.node)] for control in group]
    held = Counter(block.mem_id for chain in chains for block in chain)
    return [
        next((block for block, around in pairwise(chain) if held[around.mem_id] > 1), None)
        for chain in chains
    ]


def _are_alternatives(group: list[BuyControl]) -> bool:
    """Whether controls stand right beside each other and each says something else: ways to get one thing."""
    labels = [control.label for control in group]
    if len(group) > MAX_ALTERNATIVES or len(set(labels)) < len(group):
        return False
    return all(
        tile is not None and len(text_of(tile, limit=MAX_LABEL_CHARS)) <= len(label)
        for tile, label in zip(_tiles(group), labels, strict=True)
    )


def _differ(tiles: list[LexborNode | None]) -> bool:
    """Whether two blocks are headed by other words, as two plans are; editions share a name."""
    headings = [tile.css_first("h1, h2, h3, h4") if tile is not None else None for tile in tiles]
    words = [set(words_of(heading.text()).split()) for heading in headings if heading is not None]
    if len(words) < len(tiles) or not all(words):
        return False
    return len(words[0] & words[1]) * 2 <= min(map(len, words))


def _are_columns(tiles: list[LexborNode | None]) -> bool:
    """Whether blocks are cells of one row of a table: the same is said of one thing beside another."""
    rows = {
        tile.parent.mem_id
        for tile in tiles
        if tile is not None and tile.tag in {"td", "th"} and tile.parent is not None
    }
    return len(rows) == 1 and all(tile is not None and tile.tag in {"td", "th"} for tile in tiles)


def _is_tile(block: LexborNode) -> bool:
    return block.css_first("img") is not None and block.css_first("a[href]") is not None


def _looks(control: BuyControl) -> list[str]:
    """What controls of one grid share, whatever row they stand in."""
    return [look for look in (control.label, control.element.get("class")) if look]


def _is_own(control: BuyControl, around: Surroundings, url: str) -> bool:
    node = control.element.node
    if is_about_something_else(control.label) or around.is_aside(node) or around.is_in_tile(node):
        return False
    if _is_in_card(node, around, url):
        return False
    if control.reason == "waiting":
        is_priced = any(block.mem_id in around.priced for block in ancestors(node, NEAR))
        return control.element.tag != "a" and is_priced and _is_near_title(node, around)
    return control.reason != "buy" or _is_believable(control.element, around, url)


def _is_in_card(node: LexborNode, around: Surroundings, url: str) -> bool:
    """Whether the control stands under a heading and a picture that lead to the same other page: its card."""
    for block in ancestors(node, NEAR):
        if block.mem_id in around.titled:
            return False
        targets = {_target_of(heading) for heading in block.css("h2, h3, h4, h5")}
        if targets:
            target = targets.pop()
            return not targets and _is_other_page(target, url) and _has_picture_to(block, target)
    return False


def _target_of(heading: LexborNode) -> str:
    """Where a heading leads that holds a link or stands in one."""
    inner = heading.css_first("a[href]")
    outer = (block for block in ancestors(heading, 2) if block.tag == "a")
    link = inner or next(outer, None)
    return (link.attributes.get("href") or "") if link is not None else ""


def _has_picture_to(block: LexborNode, target: str) -> bool:
    links = (link for link in block.css("a[href]") if link.attributes.get("href") == target)
    return any(link.css_first("img") is not None for link in links)


def _is_other_page(href: str, url: str) -> bool:
    if not href or href.startswith(("#", "javascript:")):
        return False
    try:
        return bare_address(urljoin(url, href)) != bare_address(url)
    except ValueError:
        return False


def _is_believable(element: Element, around: Surroundings, url: str) -> bool:
    """Whether a control that says no more than `buy` is about this page: such a link may lead anywhere."""
    if _is_in_login(element.node) or _is_inside_link(element.node):
        return False
    if element.tag != "a":
        return True
    href = element.get("href")
    return _may_order(href) and not _leads_elsewhere(href, url) and _is_near_price(element.node, around)


def _may_order(href: str) -> bool:
    """Whether an address can be that of an order, and not that of a page to read."""
    return not href or href.startswith(("#", "javascript:")) or bool(_ORDERING.search(href[:500]))


def _leads_elsewhere(href: str, url: str) -> bool:
    if not href.startswith(("http://", "https://", "//")):
        return False
    try:
        return not same_site(urljoin(url, href), url)
    except (ValueError, BadUrlError):
        return True


def _is_near_title(node: LexborNode, around: Surroundings) -> bool:
    """Whether a part of the page that is not long holds the control and the title."""
    block = next((block for block in ancestors(node) if block.mem_id in around.titled), None)
    return block is not None and len(text_of(block, limit=NEAR_TITLE_CHARS * 20)) <= NEAR_TITLE_CHARS


def _is_near_price(node: LexborNode, around: Surroundings) -> bool:
    for block in ancestors(node, NEAR):
        if block.mem_id in around.priced:
            return True
        text = text_of(block, limit=NEAR_CHARS)
        if len(text) > NEAR_CHARS:
            return False
        if find_in_prose(text) is not None:
            return True
    return False


def _is_inside_link(node: LexborNode) -> bool:
    link = next((block for block in ancestors(node) if block.tag == "a"), None)
    return link is not None and not (link.attributes.get("href") or "#").startswith(("#", "javascript:"))


def _is_in_login(node: LexborNode) -> bool:
    form = next((block for block in ancestors(node) if block.tag == "form"), None)
    return form is not None and form.css_first("input[type=password]") is not None
