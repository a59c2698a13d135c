"""Pages that a standard HTML parser takes quadratic time or memory for, told before they are parsed."""

from __future__ import annotations

import re
from collections import Counter

MAX_TAGS = 400_000
MAX_DEPTH = 6_000
MAX_FORMATTING = 800
# Below these numbers of tags the worst case is still cheap, and the closer look would cost every page.
DEPTH_MATTERS_FROM = 12_000
FORMATTING_MATTERS_FROM = 1_600

# Elements whose end tag may be left out, or that have none: they do not nest by themselves.
_SHALLOW = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li td th tr tbody thead tfoot dt dd option optgroup html head body a".split()
)
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30})")
# An open formatting element is copied into every later block, unless three of its kind already are.
_FORMATTING = re.compile(rb"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/]", re.IGNORECASE)
_FORMATTING_NAMES = (b"font", b"strong", b"small", b"code", b"em", b"nobr", b"b", b"i", b"u", b"s")


def problem_of(body: bytes) -> str:
    """The reason code for which `body` is not to be parsed; empty where it may be."""
    tags = body.count(b"<")
    if not tags:
        return "not_html"
    if tags > MAX_TAGS:
        return "too_large"
    return "too_deep" if _is_too_deep(body, tags) else ""


def _is_too_deep(body: bytes, tags: int) -> bool:
    """Whether elements nest deeper, or more formatting is left open, than a page has reason to."""
    if tags > FORMATTING_MATTERS_FROM and _open_formatting(body) > MAX_FORMATTING:
        return True
    return tags > DEPTH_MATTERS_FROM and _depth(body) > MAX_DEPTH


def _open_formatting(body: bytes) -> int:
    """Formatting elements with attributes that are opened and not closed, at most."""
    opened = len(_FORMATTING.findall(body))
    if opened <= MAX_FORMATTING:
        return opened
    lowered = body.lower()
    return opened - sum(lowered.count(b"</%b>" % name) for name in _FORMATTING_NAMES)


def _depth(body: bytes) -> int:
    """The deepest that elements of one name stand open, added up over the names."""
    standing: Counter[bytes] = Counter()
    deepest: Counter[bytes] = Counter()
    for match in _TAG.finditer(body):
        name = match[2].lower()
        if name in _SHALLOW:
            continue
        if not match[1]:
            standing[name] += 1
            deepest[name] = max(deepest[name], standing[name])
        elif standing[name]:
            standing[name] -= 1
    return max(deepest.values(), default=0)
