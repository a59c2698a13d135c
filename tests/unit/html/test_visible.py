"""What a reader of the page sees."""

from __future__ import annotations

from crawler.html.parse import parse
from crawler.html.visible import visible_text


def text_of(body: str) -> str:
    """The visible text of a fragment."""
    return visible_text(parse(body.encode()).tree)


def test_hidden_parts_are_left_out() -> None:
    """Scripts, styles, templates, noscript, hidden and aria-hidden parts are not seen (SPEC F158)."""
    seen = "<p>one</p>{}<p>two</p>"
    hidden = (
        "<script>j</script><style>s</style><template><p>t</p></template><noscript>n</noscript>",
        '<div hidden>h<b>h</b></div><div aria-hidden="true">a<!-- c --></div>',
        '<p style="color:red;display : none">d</p><p style="visibility:hidden">v</p>',
    )
    body = "<title>T</title><body>" + seen.format("".join(hidden))
    assert text_of(body) == "one two"


def test_white_space_is_collapsed() -> None:
    """Breaks, tabs and no-break spaces become single spaces; inline tags do not tear words apart."""
    assert text_of("<p>a\n\t b&nbsp; c</p><ul><li>d</li><li><b>e</b>f</li></ul>") == "a b c d ef"


def test_an_element_parts_words_where_it_ends() -> None:
    """What follows a closed block is another word, but for a mark or where nothing is seen."""
    assert text_of("<p>b</p>c<ul><li>d</ul><b>e</b><div><b>f</b></div><em>g</em>") == "b c d e f g"
    assert text_of("<b><p>a</p></b>b") == "a b"
    assert text_of("<p>a</p><script>s</script>b") == "a b"
    assert text_of("<span>12</span>,90 <span>€</span>!") == "12,90 €!"
    assert text_of("a<script>s</script>b<em>c</em><!-- x -->d<wbr>e") == "abcde"


def test_hidden_last_part() -> None:
    """A hidden part at the very end, and one within another, end where they end."""
    assert text_of("<p>a<span hidden></span>b</p><div hidden><div hidden>x</div>y</div>") == "ab"
