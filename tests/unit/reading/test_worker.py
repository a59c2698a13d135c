"""The reading process answers what it is asked: one page, several, or what the rule says of one."""

from __future__ import annotations

from crawler.html.content import Content, ContentQuestion
from crawler.pdp import PageQuestion, reading_of
from crawler.reading.worker import _answer

PAGE = b"<title>Jug</title><h1>Jug</h1><p>Made by hand.</p>"
URL = "https://shop.example/"


def test_each_question_has_its_answer() -> None:
    """Those that came together are answered together, in their order; a bad page costs itself."""
    one = _answer(ContentQuestion(PAGE, URL))
    several = _answer(
        [ContentQuestion(PAGE, URL), ContentQuestion(b"", URL), ContentQuestion(b"\x00\xff", URL)]
    )
    assert isinstance(one, Content)
    assert (one.title, several[0]) == ("Jug", one)
    assert [bool(each.problem) for each in several] == [False, True, True]
    assert _answer([]) == []


def test_the_rule_is_asked_for_a_page_that_is_judged() -> None:
    """With the answer that it gives here."""
    question = PageQuestion(PAGE, URL, "text/html", "v1.2", with_links=True)
    assert _answer(question) == reading_of(question)
