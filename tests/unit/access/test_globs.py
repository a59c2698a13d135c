"""Path rules: what a glob speaks of, and that none is slow."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.access.globs import (
    MAX_RULE_CHARS,
    PathRules,
    comparable_path,
    comparable_query,
    literal_rule,
    problem_of,
)

# rule, what it speaks of, what it does not
CASES = [
    ("/", "/", "/a"),
    ("/cart", "/cart /cart/ //cart /cart/. /x/../cart /%63art /cart?a=1", "/Cart /carts /cart/1 /a/cart /"),
    ("/cart/", "/cart /cart/", "/cart/1"),
    ("/p/*", "/p/1 /p/1/ /p/%41", "/p /p/ /p/1/2"),
    ("/*/reviews", "/cup/reviews", "/reviews /a/b/reviews"),
    ("/p-*-x", "/p-1-x /p--x", "/p-1/2-x /p-x"),
    ("/account/**", "/account /account/ /account/a /account/a/b", "/accounts /a/account /accounts/a"),
    ("/**", "/ /a /a/b", ""),
    ("/a/**/b", "/a/b /a/x/b /a/x/y/b", "/a /ab /a/xb /b"),
    ("/a/**/**/b", "/a/b /a/x/b /a/x/y/b", "/a /ab"),
    ("/**/*.pdf", "/x.pdf /a/x.pdf /a/b/.pdf", "/x.pdfs /a.pdf/b"),
    ("/x**y", "/xy /x/a/y /x1y", "/x/a /xyz"),
    ("/*/**", "/a /a/b", "/"),
    ("/a%2Ab/*", "/a*b/1", "/axb/1"),
    ("/café", "/café /caf%C3%A9 /caf%c3%a9", "/cafe"),
    ("/caf%C3%A9/*", "/café/1", "/café"),
    ("/a%2Fb", "/a%2Fb /a%2fb", "/a/b"),
    ("/[ab]", "/[ab]", "/a"),
    ("/a.b", "/a.b", "/axb"),
    ("/*?sort=*", "/c?sort=price /c?sort=", "/c /c?a=1&sort=price /c/d?sort=x"),
    ("/**?*color=*", "/?color=red /c/d?a=1&color=red/blue /c?colour=1&mycolor=2", "/color=1 /c?a=color"),
    ("/index.php?route=account/**", "/index.php?route=account/orders", "/index.php /index.php?route=product"),
    ("/x?a/**", "/x?a/ /x?a/b", "/x?a"),
    ("/c/**?page=*", "/c?page=1 /c/d?page=2", "/d?page=1 /c"),
]


def speaks_of(rule: str, address: str) -> bool:
    """Whether a rule speaks of a path with a query."""
    path, _, query = address.partition("?")
    return PathRules((rule,)).first(comparable_path(path), comparable_query(query)) == rule


@pytest.mark.parametrize(("rule", "inside", "outside"), CASES, ids=[case[0] for case in CASES])
def test_what_a_rule_speaks_of(rule: str, inside: str, outside: str) -> None:
    """Each of these addresses, and none of those."""
    assert [address for address in inside.split() if not speaks_of(rule, address)] == []
    assert [address for address in outside.split() if speaks_of(rule, address)] == []
    assert not problem_of(rule)


def test_the_first_rule_in_the_list_is_named() -> None:
    """Whatever kind of rule it is."""
    orders = [("/a/*", "/a/**", "/a/b"), ("/a/b", "/a/*", "/a/**"), ("/a/**", "/a/b", "/a/*")]
    assert [PathRules(rules).first("/a/b") for rules in orders] == ["/a/*", "/a/b", "/a/**"]
    assert PathRules(("/z?*", "/a/b?q=*", "/a/**")).first("/a/b", "q=1") == "/a/b?q=*"
    assert PathRules(()).first("/a/b") is None


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("products/**", 'does not begin with "/"'),
        ("https://shop.example/p", 'does not begin with "/"'),
        ("", 'does not begin with "/"'),
        ("/a/../b", 'has a "." or ".." segment, which no path has'),
        ("/a\nb", "has a control character in it"),
        ("/a?", 'has nothing behind its "?"'),
        ("/" + "a" * MAX_RULE_CHARS, f"is longer than {MAX_RULE_CHARS} characters"),
    ],
)
def test_what_can_be_no_rule(rule: str, problem: str) -> None:
    """It is said in words."""
    assert problem_of(rule) == problem


@pytest.mark.parametrize(
    "rule",
    ["/" + "**a" * 160, "/**" * 160 + "/x", "/" + "*a" * 240 + "b", "/**/*a" * 80 + "b"],
)
def test_no_rule_is_slow(rule: str) -> None:
    """A bomb of stars against the longest paths that a URL has takes milliseconds."""
    paths = [comparable_path(path) for path in ("/" + "a" * 8000, "/a" * 4000, "/" + "aab/" * 2000)]
    rules = PathRules((rule, "/**/zz*"))
    begun = time.thread_time()
    for path in paths:
        rules.first(path)
    assert time.thread_time() - begun < 1


SEGMENTS = st.sampled_from(["a", "b", "ab", "*", "**", "a*", "*b", "a**", "**b", "a*b"])
GLOBS = st.lists(SEGMENTS, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "aab", "ba"]), max_size=5).map(
    lambda parts: "/" + "/".join(parts)
)


@given(st.lists(GLOBS, min_size=1, max_size=3), PATHS)
def test_it_agrees_with_the_regular_expressions_that_say_the_same(globs: list[str], path: str) -> None:
    """The rules are those of the documentation, however they are evaluated."""
    expected = next((glob for glob in globs if re.fullmatch(as_regex(glob), path.rstrip("/"))), None)
    assert PathRules(tuple(globs)).first(path) == expected


def as_regex(glob: str) -> str:
    """The documentation's sentences about stars, as an expression."""
    parts = re.split(r"(/\*\*(?=/|$)|\*\*|\*)", glob)
    words = {"/**": "(?:/.*)?", "**": ".*", "*": "[^/]*"}
    return "".join(words.get(part, re.escape(part)) for part in parts)


@given(st.text(max_size=50))
def test_any_text_is_a_path(text: str) -> None:
    """And has a rule that speaks of it and can be written into a file."""
    path = comparable_path("/" + text.replace("%", "%25").replace("?", "%3F").replace("#", "%23"))
    rule = literal_rule(path)
    assert rule.isascii()
    assert rule.isprintable()
    assert speaks_of(rule, path)
