"""Any text is understood as something, and never an error."""

from __future__ import annotations

import random

import pytest

from crawler.archive.query import MAX_CHARS, MAX_DEPTH, And, Node, Not, Or, Query, Term, understood


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
        ("red AND shoes", "(red & shoes)"),
        ("red OR blue shoes", "(red | (blue & shoes))"),
        ("red OR blue AND NOT green", "(red | (blue & !green))"),
        ("(red OR blue) shoes", "((red | blue) & shoes)"),
        ("shoes -red", "(shoes & !red)"),
        ("NOT NOT red", "!!red"),
        ('title:"Red Shoes" url:shop', '(title:"red shoes" & url:shop)'),
        ("TITLE:Red", "title:red"),
        ("-title:red x", "(!title:red & x)"),
        ('"a \\"b\\"" AND c', '("a "b"" & c)'),
        ("title:100%_x", "title:100%_x"),
    ],
)
def test_expressions(text: str, tree: str) -> None:
    """NOT binds closest, then AND, which needs no word, then OR."""
    query = understood(text)
    assert (query.kind, shown(query.node)) == ("boolean", tree)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("red shoes", [("red",), ("shoes",)]),
        ('"red shoes" size', [("red", "shoes"), ("size",)]),
        ("(((", [()]),
        ("red AND", [("red",)]),
        ("title: red", [("title",), ("red",)]),
        ("OR OR", [()]),
        ("NOT", [()]),
        ("red )", [("red",)]),
        ("%", [()]),
        ('"', [()]),
        ("赤い靴", [("赤", "い", "靴")]),
        ("e-mail", [("e", "mail")]),
        ("and or not", [("and",), ("or",), ("not",)]),
    ],
)
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


@pytest.mark.parametrize("text", ["url:shop", "shop example.org", "http://[::1", "a..b", "https://", "1.5"])
def test_no_urls(text: str) -> None:
    """A field, words, or nothing that has a host."""
    assert understood(text).kind != "url" or text == "1.5"


def test_nothing_is_everything() -> None:
    """Blanks and control characters ask for nothing."""
    assert understood("") == understood(" \x00\n ") == Query("", "all")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 256, ")" * 256, '"' * 256, "-" * 256, "NOT " * 64, "title:" * 40, "%" * 256, "_", "\\" * 256,
        "'; DROP TABLE texts; --", "a NEAR(b c, 5)", "a* ^b {c d}: e + f", "\ud800 AND \udfff", "a" * 100_000,
        "NOT (" * 40 + "a" + ")" * 40, "(a " * 60, "url:" * 60, "\u202etxt", "http://" * 30, "https://[",
        '"\\', '"\\"', 'title:"', "- - -", "-(a)", "title:(a)", "()", "a () b", "http://xn--/", "x.\u3002y",
    ],
)  # fmt: skip
def test_odd_texts(text: str) -> None:
    """They mean something, within bounds."""
    query = understood(text)
    assert query.kind in {"all", "url", "boolean", "plain"}
    assert len(query.text) <= MAX_CHARS
    assert query.kind == "all" or query.terms or query.urls or query.node


def test_any_text_is_understood() -> None:
    """Ten thousand texts made of what is special."""
    chance = random.Random(4)
    parts = [
        "(",
        ")",
        '"',
        "-",
        "AND",
        "OR",
        "NOT",
        "title:",
        "url:",
        "\\",
        "%",
        " ",
        "a",
        "赤",
        ".",
        "://",
        "\ud800",
    ]
    for _ in range(10_000):
        understood("".join(chance.choices(parts, k=chance.randint(0, 60))))


def test_depth_is_bounded() -> None:
    """Deeper than anybody means is plain text."""
    deep = "(" * (MAX_DEPTH + 1) + "a" + ")" * (MAX_DEPTH + 1)
    assert understood(deep).kind == "plain"
    assert understood("(" * 5 + "a" + ")" * 5).kind == "boolean"
