"""What was looked for is marked in what is found, and nothing else becomes markup."""

from __future__ import annotations

from crawler.archive.marking import as_html, marked, passage
from crawler.archive.query import understood


def html(text: str, query: str) -> str:
    """The text as a page shows it."""
    return as_html(marked(text, understood(query).terms))


def test_words_and_phrases_are_marked() -> None:
    """As the index understands them: without case and accents, phrases only as a whole."""
    assert html("Red shoes, red hats", "RED") == "<mark>Red</mark> shoes, <mark>red</mark> hats"
    assert html("Red shoes, red hats", '"red hats"') == "Red shoes, <mark>red hats</mark>"
    assert html("Große Straße", "strasse") == "Große <mark>Straße</mark>"
    assert html("l'été dernier", "ete") == "l&#x27;<mark>été</mark> dernier"
    assert html("e\u0301te\u0301", "été") == "<mark>e\u0301te\u0301</mark>"
    assert html("この赤い靴は", "赤い") == "この<mark>赤い</mark>靴は"
    assert html("crimsonword", "imson") == "<mark>crimsonword</mark>"
    assert html("nothing", "x") == "nothing"


def test_nothing_becomes_markup() -> None:
    """Neither what a page says nor what is looked for."""
    assert html("<script>alert(1)</script>", "script") == (
        "&lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt;"
    )
    assert html("a <mark> & b", "mark") == "a &lt;<mark>mark</mark>&gt; &amp; b"
    assert "<mark" not in html("a < b", "<mark>")
    assert html('" onload="x', '"onload') == "&quot; <mark>onload</mark>=&quot;x"


def test_a_passage() -> None:
    """Around the first place, cut at words, whatever the length of the text."""
    body = "start " * 2_000 + "the needle is here " + "end " * 2_000
    found = passage(body, understood("needle").terms)
    assert "the needle is here" in found
    assert found.startswith("… start")
    assert found.endswith(" …")
    assert len(found) < 300
    assert not passage(body, understood("absent").terms)
    assert passage("needle", understood("needle").terms) == "needle"
    assert not passage("x" * 100_000, understood("needle").terms)
    assert len(passage("針" * 10_000, understood("針").terms)) < 300
