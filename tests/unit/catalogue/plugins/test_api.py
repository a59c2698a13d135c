"""What of a plugin's record can be kept, and what makes a version."""

from __future__ import annotations

import enum
import json
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from crawler.capture.items import PageCapture
from crawler.catalogue.plugins.api import (
    MAX_BYTES,
    MAX_KEY_CHARS,
    MAX_TITLE_CHARS,
    MAX_VALUES,
    BadValueError,
    checked,
    plugin_page,
)
from crawler.pdp import Facts, Signals, Verdict
from tests.unit.catalogue.plugins.made_up import URL, page, record

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
        | st.sets(st.text(), max_size=2)
    ),
    max_leaves=8,
)


class Word(str, enum.Enum):  # ruff: ignore[replace-str-enum] - such enums say their name, not their value
    """A kind as some would write it."""

    THING = "thing"


def nested(depth: int) -> Any:
    """Lists in lists."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def circle() -> dict[str, Any]:
    """Something that contains itself."""
    found: dict[str, Any] = {}
    found["again"] = found
    return found


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": ""}, "a kind is a letter"),
        ({"kind": "a b"}, "a kind is a letter"),
        ({"key": ""}, "a key has 1 to"),
        ({"key": "k" * (MAX_KEY_CHARS + 1)}, "a key has 1 to"),
        ({"key": "a\x00b"}, "NUL"),
        ({"url": "javascript:alert(1)"}, "url is none that a crawl could fetch"),
        ({"url": "https://me:secret@shop.example/"}, "url is none that a crawl could fetch"),
        ({"url": "https://shop.example/" + "a" * 9000}, "url is none that a crawl could fetch"),
        ({"content": None}, "content is a NoneType, not an object"),
        ({"content": {"a": float("nan")}}, "NaN"),
        ({"content": {"a": 2**63}}, "64 bits"),
        ({"content": {"a": 10**5000}}, "64 bits"),
        ({"content": {"a": "\x00"}}, "NUL"),
        ({"content": {"a": "\udfff"}}, "surrogate"),
        ({"content": {1: 1}}, "a name in an object is no text"),
        ({"content": {"a": Decimal(1)}}, "Decimal is not JSON"),
        ({"content": {"a": nested(100_000)}}, "nested"),
        ({"content": circle()}, "nested"),
        ({"content": {"a": [0] * (MAX_VALUES + 1)}}, "values"),
        ({"content": {"a": "x" * MAX_BYTES}}, "bytes"),
        ({"details": {"a": object()}}, "object is not JSON"),
    ],
)  # fmt: skip
def test_what_no_database_takes_is_refused(fields: dict[str, Any], reason: str) -> None:
    """With the reason."""
    with pytest.raises(BadValueError, match=reason):
        checked(record(**fields))


def test_what_can_be_kept_is_a_copy() -> None:
    """In plain types, whatever the plugin does with its own afterwards; a long title is cut."""
    mine = {"list": (1, 2.5, None, True), "inner": MappingProxyType({"b": "x"}), "word": Word.THING}
    kept = checked(record(kind=Word.THING, content=mine, title=" a \n" + "b" * 1000))
    mine["list"] = (3,)
    assert kept.content == {"list": [1, 2.5, None, True], "inner": {"b": "x"}, "word": "thing"}
    assert (type(kept.kind), kept.kind, type(kept.content["word"])) == (str, "thing", str)
    assert kept.title == "a " + "b" * (MAX_TITLE_CHARS - 2)
    assert checked(record(title=" ")).title is None


def test_no_password_is_kept() -> None:
    """A key may be a URL with one in it, and a query may have one."""
    assert checked(record("https://me:secret@shop.example/a")).key == "https://me:***@shop.example/a"
    assert "secret" not in checked(record(url="https://shop.example/?password=secret")).url


def test_content_and_kind_decide_the_version() -> None:
    """Not the order of names, nor anything beside them."""
    first = record(content={"a": 1, "b": [2, {"c": "ü"}]})
    assert first.checksum == record(content={"b": [2, {"c": "ü"}], "a": 1}).checksum
    same = evolve(first, title="x", details={"x": 1}, key="b", url="https://shop.example/")
    assert same.checksum == first.checksum
    assert len(first.checksum) == 64
    others = [{"a": 1}, {"a": 2, "b": [2, {"c": "ü"}]}, {"a": 1, "b": [{"c": "ü"}, 2]}, {}]
    assert len({first.checksum, *(record(content=each).checksum for each in others)}) == 5
    assert evolve(first, kind="other").checksum != first.checksum


@given(st.dictionaries(st.text(), ANYTHING, max_size=4))
def test_anything_is_kept_or_refused(content: dict[str, Any]) -> None:
    """What is kept is JSON that comes back as it was; the rest is a BadValueError, never another."""
    try:
        kept = checked(record(content=content))
    except BadValueError:
        return
    assert json.loads(json.dumps(kept.content, allow_nan=False)) == kept.content
    assert checked(kept) == kept
    assert checked(kept).checksum == kept.checksum


# ── what a plugin sees of a page ──


VARIANT = "https://shop.example/p/chair?colour=red&b=1"


@pytest.mark.parametrize(
    ("body", "charset", "html"),
    [
        ("früh".encode(), "utf-8", "früh"),
        ("früh".encode("cp1252"), "windows-1252", "früh"),
        ("朝".encode(), "", "朝"),
        ("朝".encode(), "rot13", "朝"),
        (b"a\xffb", "utf-8", "a\ufffdb"),
    ],
)
def test_html_is_read_in_the_charset_that_was_found(body: bytes, charset: str, html: str) -> None:
    """No bytes and no charset make it fail."""
    assert page(body=body, charset=charset).html == html


@pytest.mark.parametrize(
    ("content_type", "reasons", "is_html"),
    [
        ("text/html; charset=utf-8", None, True),
        ("APPLICATION/xhtml+xml", None, True),
        ("image/png", (), False),
        ("", ("no_price",), True),
        ("", ("not_html",), False),
    ],
)
def test_html_is_what_says_so(content_type: str, reasons: tuple[str, ...] | None, *, is_html: bool) -> None:
    """Where nothing is declared, the reading says it."""
    verdict = None if reasons is None else Verdict("v1.2", is_pdp=False, signals=Signals(), reasons=reasons)
    assert page(content_type=content_type, verdict=verdict).is_html is is_html


def test_a_capture_becomes_a_page() -> None:
    """With the title that its reading has, and the canonical URL where that is to be believed."""
    capture = PageCapture(
        session_id="1",
        page_type="page",
        url=VARIANT,
        content_type="text/html",
        charset="utf-8",
        body=b"<p>hi</p>",
        visible_text="früh".encode(),
        verdict=Verdict("v1.2", is_pdp=True, signals=Signals()),
        facts=Facts(name="Chair", price=Decimal("9.50")),
        canonical_url="/p/chair",
    )
    seen = plugin_page(
        capture, title="A chair", depth=2, links=[URL], media=iter(["https://shop.example/a.png"])
    )
    assert (seen.url, seen.canonical_url, seen.title, seen.visible_text) == (VARIANT, URL, "A chair", "früh")
    assert (seen.html, seen.is_pdp, seen.is_html, seen.depth) == ("<p>hi</p>", True, True, 2)
    assert (seen.links, seen.media) == ((URL,), ("https://shop.example/a.png",))
    assert (seen.facts["name"], seen.facts["price"], seen.verdict["policy"]) == ("Chair", "9.50", "v1.2")


def test_nothing_in_it_can_be_changed() -> None:
    """Neither for the next plugin nor for what is kept of the page."""
    seen = page(facts=Facts(name="Chair", sources={"name": "json-ld"}, breadcrumbs=("a", "b")))
    with pytest.raises(TypeError):
        seen.facts["name"] = "Table"  # type: ignore[index]
    with pytest.raises(TypeError):
        seen.facts["sources"]["name"] = "dom"
    assert seen.facts["breadcrumbs"] == ("a", "b")
    with pytest.raises(AttributeError):
        seen.url = "https://other.example/"  # type: ignore[misc]
