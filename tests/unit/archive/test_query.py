"""Any text is understood as something; words, slips of the keyboard, and what is marked of a hit."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.archive import similar
from crawler.archive.marking import as_html, marked, passage
from crawler.archive.query import MAX_CHARS, MAX_DEPTH, And, Node, Not, Or, Query, Term, understood
from crawler.archive.words import MAX_WORD_CHARS, folded, parted, words_of
from crawler.db.models import WordForm
from tests.unit.archive.written import content, index

if TYPE_CHECKING:
    from crawler.db.engine import Database


def shown(node: Node | None) -> str:
    """A tree on one line."""
    match node:
        case None:
            return "-"
        case Term():
            text = f'"{node.text}"' if node.is_phrase else node.text
            return f"{node.field}:{text}" if node.field else text
        case Not():
            return f"!{shown(node.of)}"
        case And():
            return "(" + " & ".join(map(shown, node.parts)) + ")"
        case Or():
            return "(" + " | ".join(map(shown, node.parts)) + ")"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("red AND shoes", "(red & shoes)"), ("red OR blue shoes", "(red | (blue & shoes))"),
        ("red OR blue AND NOT green", "(red | (blue & !green))"),
        ("(red OR blue) shoes", "((red | blue) & shoes)"), ("shoes -red", "(shoes & !red)"),
        ("NOT NOT red", "!!red"), ('title:"Red Shoes" url:shop', '(title:"red shoes" & url:shop)'),
        ("TITLE:Red", "title:red"), ("-title:red x", "(!title:red & x)"),
        ('"a \\"b\\"" AND c', '("a "b"" & c)'), ("title:100%_x", "title:100%_x"),
    ],
)  # fmt: skip
def test_expressions(text: str, tree: str) -> None:
    """NOT binds closest, then AND, which needs no word, then OR."""
    query = understood(text)
    assert (query.kind, shown(query.node)) == ("boolean", tree)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("red shoes", [("red",), ("shoes",)]), ('"red shoes" size', [("red", "shoes"), ("size",)]),
        ("(((", [()]), ("red AND", [("red",)]), ("title: red", [("title",), ("red",)]), ("OR OR", [()]),
        ("NOT", [()]), ("red )", [("red",)]), ('"', [()]), ("赤い靴", [("赤", "い", "靴")]),
        ("e-mail", [("e", "mail")]), ("and or not", [("and",), ("or",), ("not",)]),
    ],
)  # fmt: skip
def test_what_is_no_expression_is_plain_text(text: str, terms: list[tuple[str, ...]]) -> None:
    """Quotes make phrases, and no expression; what cannot be read as one is words."""
    query = understood(text)
    assert (query.kind, [term.words for term in query.terms]) == ("plain", terms)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://www.shop.example/a?b=1", "http://shop.example/a?b=1"),
        ("shop.example", "https://shop.example/"),
        ("url:https://shop.example/a", "http://www.shop.example/a"),
        ("url:www.shop.example/a/", "https://shop.example/a"),
        ("SHOP.example:8080/x", "http://shop.example:8080/x"),
        ("http://127.0.0.1:8000/p/1", "http://127.0.0.1:8000/p/1"),
    ],
)
def test_urls(text: str, url: str) -> None:
    """With and without scheme, `www.` and the last slash."""
    query = understood(text)
    assert query.kind == "url"
    assert url in query.urls
    assert bool(query.terms) == ("://" not in text and not text.startswith("url:"))
    for other in ("url:shop", "shop example.org", "http://[::1", "a..b", "https://"):
        assert understood(other).kind != "url"


def test_nothing_is_everything() -> None:
    """Blanks and control characters ask for nothing."""
    assert understood("") == understood(" \x00\n ") == Query("", "all")


def test_any_text_is_understood() -> None:
    """Thousands of texts made of what is special mean something, within bounds."""
    chance = random.Random(4)
    special = '( ) " - AND OR NOT title: url: \\ % a 赤 . ://'
    parts = [*special.split(), "\ud800", " ", "\u202e", "a" * 999]
    for _ in range(3_000):
        query = understood("".join(chance.choices(parts, k=chance.randint(0, 60))))
        assert len(query.text) <= MAX_CHARS
        assert query.kind == "all" or query.terms or query.urls or query.node


def test_depth_is_bounded() -> None:
    """Deeper than anybody means is plain text."""
    deep = "(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1)
    assert understood(deep).kind == "plain"
    assert understood("(" * 5 + "a" + ")" * 5).kind == "boolean"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Red shoes, size-42!", ["red", "shoes", "size", "42"]), ("Crème BRÛLÉE", ["creme", "brulee"]),
        ("Straße", ["strasse"]), ("赤い靴", ["赤", "い", "靴"]),
        ("\uff21\uff22\uff23\uff11\uff12", ["abc12"]),
        ("รองเท้า", list("รองเท้า")), ("हिन्दी भाषा", ["हिन्दी", "भाषा"]), ("Привет мир", ["привет", "мир"]),
        ("한국어 신발", ["한국어", "신발"]), ("new新品shoes", ["new", "新", "品", "shoes"]),
        ("snake_case", ["snake", "case"]), ("a\ud800b", ["a", "b"]), ("a\u0903b\u2019c", ["a\u0903b", "c"]),
        ("Donau\u00addampf\u00adschiff", ["donaudampfschiff"]),  # parted at a line's end, or joined
        ("wort\u200dteil, word\u2060joiner", ["wortteil", "wordjoiner"]), ("😀 \x00 \u202e", []),
        ("é" * 10_000, ["e" * MAX_WORD_CHARS]), ("İstanbul", ["istanbul"]),
    ],
)  # fmt: skip
def test_words(text: str, words: list[str]) -> None:
    """Letters and digits, without case and accents; a character each where no spaces are written."""
    assert words_of(text) == words
    assert words_of(parted(text)) == words  # as SQLite's own tokenizer is given them
    assert all(len(word) <= MAX_WORD_CHARS for word in parted(text).split())
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("shoe", ["shoes"]), ("shoess", ["shoes"]), ("shies", ["shoes"]), ("hsoes", ["shoes"]),
        ("shoes", []), ("soe", []), ("latehr", []), ("", []), ("ab", []), ("1234", []), ("x" * 24, []),
        ("%", []), ("靴", []), ("doat", ["boat", "coat", "goat", "moat"]), ("oat", []),
    ],
)  # fmt: skip
def test_one_slip(database: Database, word: str, near: list[str]) -> None:
    """A letter too many, too few, wrong, or two swapped finds the closest few; two slips are another word."""
    with database.write() as db:
        for _ in range(2):
            similar.add(
                db, ["Leather shoes, Schuhe and 靴; ab 12345 " + "x" * 25, "boat coat goat moat loaf"]
            )
    with database.read() as db:
        assert similar.like(db, word) == near


def test_words_that_no_text_has_are_forgotten(database: Database) -> None:
    """What another text still has, in its title or its body, stays."""
    index(database, {"content": content("Leather boots", "with shoes in it")})
    with database.write() as db:
        similar.add(db, ["Shoes, canvas"])
        similar.forget_unused(db, ["Shoes, canvas, leather", ""])
    with database.read() as db:
        assert set(db.scalars(select(WordForm.word))) == {"leather", "boots", "shoes"}


@pytest.mark.parametrize(
    ("text", "query", "html"),
    [
        ("Red shoes, red hats", "RED", "<mark>Red</mark> shoes, <mark>red</mark> hats"),
        ("Red shoes, red hats", '"red hats"', "Red shoes, <mark>red hats</mark>"),
        ("Große Straße", "strasse", "Große <mark>Straße</mark>"),
        ("l'été dernier", "ete", "l&#x27;<mark>été</mark> dernier"),
        ("e\u0301te\u0301", "été", "<mark>e\u0301te\u0301</mark>"),
        ("この赤い靴は", "赤い", "この<mark>赤い</mark>靴は"),
        ("crimsonword", "imson", "<mark>crimsonword</mark>"),
        ("nothing", "x", "nothing"),
        ("<script>alert(1)</script>", "script",
         "&lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt;"),
        ("a <mark> & b", "mark", "a &lt;<mark>mark</mark>&gt; &amp; b"),
        ("a < b", "<mark>", "a &lt; b"),
        ('" onload="x', '"onload', "&quot; <mark>onload</mark>=&quot;x"),
    ],
)  # fmt: skip
def test_what_was_looked_for_is_marked(text: str, query: str, html: str) -> None:
    """As the index understands it; nothing else becomes markup, neither of the page nor of the query."""
    assert as_html(marked(text, understood(query).terms)) == html


def test_a_passage() -> None:
    """Around the first place, cut at words, whatever the length of the text."""
    body = "start " * 2_000 + "the needle is here " + "end " * 2_000
    found = passage(body, understood("needle").terms)
    assert "the needle is here" in found
    assert (found[:7], found[-2:], len(found) < 300) == ("… start", " …", True)
    assert passage("needle", understood("needle").terms) == "needle"
    assert not passage("x" * 100_000, understood("needle").terms)
    assert len(passage("針" * 10_000, understood("針").terms)) < 300
