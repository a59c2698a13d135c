"""What belongs to a crawl, by which rule, and what a login teaches it."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.access.scope import (
    DOMAIN_RULES,
    INVALID_URL,
    PATH_RULES,
    Denial,
    Ruling,
    Scope,
    denials_after_redirect,
    permanent_lines,
    scope_domain,
)
from crawler.errors import BadUrlError

SCOPE = Scope.of(
    ["shop.example", "*.shop.example", "odd.example:8443"],
    allow=["/", "/p/**", "/account/help"],
    deny=["/p/private/**", "/account/**", "/**?*sort=*"],
)
SHOP = "https://shop.example"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (SHOP, None), (f"{SHOP}/p/cup?size=2#reviews", None), ("http://WWW.Shop.Example/p/cup", None),
        ("https://a.b.shop.example/p/cup", None), ("https://odd.example:8443/p/cup", None),
        ("https://odd.example/p/cup", DOMAIN_RULES), ("https://shop.example:8443/p/cup", DOMAIN_RULES),
        ("https://outlet.shop.example:8443/p/cup", DOMAIN_RULES), ("https://notshop.example/p", DOMAIN_RULES),
        ("https://shop.example.evil.example/p/cup", DOMAIN_RULES), (f"{SHOP}/about", PATH_RULES),
        (f"{SHOP}/p/private/cup", PATH_RULES), (f"{SHOP}/p/cup/../private/cup", PATH_RULES),
        (f"{SHOP}/p/%70rivate/cup", PATH_RULES), (f"{SHOP}//p//private", PATH_RULES),
        (f"{SHOP}/account/help", PATH_RULES), (f"{SHOP}/p/cup?a=1&sort=price", PATH_RULES),
        ("ftp://shop.example/p/cup", INVALID_URL), ("https://user@shop.example/p/cup", INVALID_URL),
        ("/p/cup", INVALID_URL), ("javascript:alert(1)", INVALID_URL), ("", INVALID_URL),
        ("https://\ud800.example/", INVALID_URL), (f"{SHOP}/p/\ud800", None),
    ],
)  # fmt: skip
def test_the_reasons_of_a_filtered_task(url: str, reason: str | None) -> None:
    """Invalid, of another domain, or on a path that is denied or not allowed (SPEC D89); a denial wins."""
    assert SCOPE.judge(url) == reason


def test_media_pass_every_filter_but_that_for_what_is_no_url() -> None:
    """Pictures lie on other hosts and under other paths (SPEC D89)."""
    assert SCOPE.judge("https://cdn.example/account/1.jpg", "media") is None
    assert SCOPE.judge(f"{SHOP}/account/1.jpg", "media") is None
    for url in ("ftp://cdn.example/1.jpg", "https://u:p@cdn.example/1.jpg", "data:image/png;base64,AAAA"):
        assert SCOPE.judge(url, "media") == INVALID_URL


def test_the_rule_that_decided_is_named() -> None:
    """As it was written, so that it can be found in the file."""
    assert SCOPE.ruling(f"{SHOP}/account/orders") == Ruling(PATH_RULES, "deny", "/account/**")
    assert SCOPE.ruling(f"{SHOP}/about") == Ruling(PATH_RULES, "allow")
    assert SCOPE.ruling(f"{SHOP}/p/1") == Ruling(None, "allow", "/p/**")
    assert SCOPE.ruling("https://evil.example/") == Ruling(DOMAIN_RULES, "allowed_domains", "evil.example")
    assert SCOPE.ruling("https://u:geheim@shop.example/").by == "url"
    assert "geheim" not in SCOPE.ruling("https://u:geheim@shop.example/").rule
    open_scope = Scope.of(["*.shop.example"])
    assert open_scope.ruling("https://a.shop.example/x") == Ruling(None, "allowed_domains", "*.shop.example")
    assert open_scope.judge(SHOP) == DOMAIN_RULES


@given(st.text(max_size=60) | st.text(max_size=60).map(lambda text: f"https://shop.example/{text}"))
def test_no_url_is_an_error(url: str) -> None:
    """Whatever a page links to, there is an answer."""
    assert SCOPE.judge(url) in {None, INVALID_URL, DOMAIN_RULES, PATH_RULES}
    assert SCOPE.judge(url, "media") in {None, INVALID_URL}
    assert isinstance(denials_after_redirect(url, f"https://shop.example/login?next={url}"), tuple)
    assert isinstance(denials_after_redirect(SHOP, url), tuple)


@pytest.mark.parametrize(
    "domain",
    ["", "*", "*.", "https://shop.example", "shop.example/p", "u@shop.example", "a.*.example", "a b"],
)
def test_what_is_no_domain(domain: str) -> None:
    """It cannot be listed."""
    with pytest.raises(BadUrlError):
        scope_domain(domain)


def test_what_a_run_learns_holds_for_the_domain_that_taught_it() -> None:
    """And is added to what it knew; twice the same is once."""
    denial = Denial("shop.example", "/p/club/**", "led to the login /login")
    learnt = SCOPE.with_denials([denial]).with_denials([Denial("shop.example", "/p/vip", "x"), denial])
    assert learnt.judge(f"{SHOP}/p/club/1") == PATH_RULES
    assert learnt.ruling(f"{SHOP}/p/vip") == Ruling(PATH_RULES, "learnt", "/p/vip")
    assert learnt.judge("https://outlet.shop.example/p/club/1") is None
    assert learnt.judge(f"{SHOP}/p/club/1.jpg", "media") is None
    assert len(learnt.denials) == 2
    assert SCOPE.judge(f"{SHOP}/p/club/1") is None


def patterns(asked: str, final: str) -> list[str]:
    """What is denied after asking for one and getting the other."""
    return [denial.pattern for denial in denials_after_redirect(SHOP + asked, SHOP + final)]


@pytest.mark.parametrize(
    "final",
    [
        "/login?next=%2Fx",
        "/signin?returnTo=https%3A%2F%2Fwww.shop.example%2Fx",
        "/account/login?return_url=/x",
        "/customer/account/login/?referer=/x",
        "/SignIn.aspx?ReturnUrl=%2fx",
        "/sessions/new?to=/x",
        "/sso?target=https://shop.example/",
    ],
)
def test_a_login_and_what_it_guards_are_not_asked_for_again(final: str) -> None:
    """The page that led to it, what lies below, and the login itself."""
    login = final.partition("?")[0].rstrip("/")
    assert patterns("/x", final) == [login, "/x", "/x/**"]
    scope = Scope.of(["shop.example"]).with_denials(denials_after_redirect(f"{SHOP}/x/", SHOP + final))
    refused = [f"{SHOP}{path}" for path in ("/x", "/x/", "/x?a=1", "/x/y", login, f"{login}?next=/other")]
    assert {scope.judge(url) for url in refused} == {PATH_RULES}
    assert [scope.judge(SHOP + path) for path in ("/", "/xy", "/p/x")] == [None, None, None]


@pytest.mark.parametrize(
    ("asked", "final"),
    [
        ("/x", "/x"),
        ("/x", "/y?next=/x"),
        ("/x", "/login"),
        ("/x", "/login?next=account"),
        ("/x", "/login?next=https://other.example/x"),
        ("/x", "/login?next=//other.example/x"),
        ("/x", "/login?next=ftp://shop.example/x"),
        ("/\ud800", "/login?next=/x"),
        ("/x", "/author/kafka?from=/x"),
        ("/x", "/blog/loginpage?from=/x"),
        ("/x", "/search?q=/login"),
        ("/x", "/login?" + "&".join(f"p{n}=/x" for n in range(500))),
    ],
)
def test_what_is_no_login_teaches_nothing(asked: str, final: str) -> None:
    """A path that says login, and a parameter that leads back: one of them is not enough."""
    assert patterns(asked, final) == []


@pytest.mark.parametrize(
    "asked",
    [
        "/",
        "",
        "/index.php",
        "/en",
        "/en-gb/",
        "/us/en/index.html",
        "/cup?add_to_wishlist=1",
        "/index.php?route=account/orders",
        "/login?next=/cup",
        "/account/login",
    ],
)
def test_a_site_is_never_denied_as_a_whole(asked: str) -> None:
    """Entrances stay; so does the page that a link with a query acts upon. The login alone is denied."""
    assert patterns(asked, "/account/login?next=/cup") == ["/account/login"]


def test_a_login_on_another_host_is_denied_there() -> None:
    """Each denial has the domain that it is about."""
    final = "https://id.shop.example/oauth2/authorize?redirect_uri=https://shop.example/back"
    found = denials_after_redirect("https://www.shop.example/orders", final)
    assert [(denial.domain, denial.pattern) for denial in found] == [
        ("id.shop.example", "/oauth2/authorize"),
        ("shop.example", "/orders"),
        ("shop.example", "/orders/**"),
    ]


def test_what_was_learnt_can_be_made_permanent() -> None:
    """The lines are TOML that can take the place of the present list, whatever the site calls its pages."""
    denials = denials_after_redirect(f'{SHOP}/caf%C3%A9/%22%5C%0A%2A"', f"{SHOP}/login?next=/x")
    lines = permanent_lines(denials, present=["/cart", '/a"b', "/login"])
    rules = tomllib.loads("\n".join(lines))["deny"]
    assert rules[:3] == ["/cart", '/a"b', "/login"]
    scope = Scope.of(["shop.example"], deny=rules)
    assert scope.judge(f'{SHOP}/café/%22%5C%0A%2A"/1') == PATH_RULES
    assert scope.judge(f"{SHOP}/café/1") is None
    assert any("# led to the login /login" in line for line in lines)
    assert permanent_lines([]) == ()
