"""Shadow trees that stand in a page's markup, made parts of the page: a browser shows what is in them.

They are templates to a parser, which keeps what is in a template away from everything that reads a page.
"""

from __future__ import annotations

import re

MARK = b"shadowrootmode"
NAME = b"shadow-root"
MAX_TAG_BYTES = 2_000
_TEMPLATE = b"template"
# What begins a stretch that no markup is in, a template, or the end of one.
_BEGINS = re.compile(rb"<(?:(!--)|(script|style|textarea|title)\b|(/?)template\b)", re.IGNORECASE)
_ENDS = {
    b"--": re.compile(rb"-->"),
    **{
        name: re.compile(b"</" + name, re.IGNORECASE) for name in (b"script", b"style", b"textarea", b"title")
    },
}
_IS_SHADOW = re.compile(rb"\sshadowrootmode\s{0,9}=\s{0,9}[\"']?(?:open|closed)\b", re.IGNORECASE)


def with_shadow_trees(source: bytes) -> bytes:
    """The same page, its declared shadow trees as elements of another name."""
    if MARK not in source:
        return source
    pieces: list[bytes] = []
    are_shadows: list[bool] = []  # of the templates that are open
    at = copied = 0
    while (begin := _BEGINS.search(source, at)) is not None:
        comment, raw, slash = begin.groups()
        if slash is None:
            end = _ENDS[b"--" if comment else raw.lower()].search(source, begin.end())
            at = end.end() if end else len(source)  # without an end it is the rest of the page
            continue
        at = begin.end()
        is_shadow = (bool(are_shadows) and are_shadows.pop()) if slash else _is_shadow(source, at)
        if not slash:
            are_shadows.append(is_shadow)
        if is_shadow:
            pieces += (source[copied : at - len(_TEMPLATE)], NAME)
            copied = at
    return b"".join((*pieces, source[copied:]))


def _is_shadow(source: bytes, at: int) -> bool:
    return _IS_SHADOW.search(source[at : at + MAX_TAG_BYTES].partition(b">")[0]) is not None
