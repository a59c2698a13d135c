"""Shadow trees in markup are read as the parts of the page that a visitor sees."""

from __future__ import annotations

import pytest

from crawler.html.parse import parse
from crawler.html.shadow import with_shadow_trees
from crawler.html.visible import visible_text

SHADOW = b'<template shadowrootmode="open">'


def text_of(body: bytes) -> str:
    """What can be read on a page."""
    return visible_text(parse(b"<!doctype html><body>" + body).tree)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"<x-a>" + SHADOW + b"<p>in it</p></template>beside</x-a> after", "in it beside after"),
        (b"<a>" + SHADOW + b"<b>" + SHADOW + b"deeper</template></b></template></a> after", "deeper after"),
        (b"<x-a><TEMPLATE class='>' shadowrootmode=closed>in it</TEMPLATE></x-a>", ""),  # cut short
        (b"<x-a><Template id=a shadowrootmode=closed>in it</Template></x-a>", "in it"),
        (SHADOW + b"<template>hidden " + SHADOW + b"too</template></template>shown</template>", "shown"),
        (b"<template data-shadowrootmode=open>hidden</template>shown", "shown"),
        (b"<template shadowrootmode=none>hidden</template>shown", "shown"),
        (b"<script>let a = '" + SHADOW + b"'</script><template>hidden</template>shown", "shown"),
        (b"<!-- " + SHADOW + b" --><template>hidden</template>shown", "shown"),
        (b"shown</template>" + SHADOW + b"<b>open to its end", "shown open to its end"),
        (b"shown<!-- " + SHADOW, "shown"),
    ],
)  # fmt: skip
def test_what_is_shown_of_a_shadow_tree_is_read(body: bytes, text: str) -> None:
    """And what a template keeps for later is not."""
    assert " ".join(text_of(body).split()) == text


def test_a_page_without_shadow_trees_is_the_same_page() -> None:
    """To the byte, and not copied."""
    body = b"<template><p>hidden</p></template>"
    assert with_shadow_trees(body) is body


def test_a_page_of_beginnings_is_read_once() -> None:
    """However many of them have no end."""
    body = (b"<!-- <script <template shadowrootmode" * 20_000) + SHADOW
    assert len(with_shadow_trees(body)) == len(body)
