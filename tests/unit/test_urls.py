"""URLs as identities: one site has one domain, however it is spelled; garbage has none."""

from __future__ import annotations

import json
import random
import time

import pytest

from crawler.errors import BadUrlError
from crawler.urls import (
    _canonical,
    canonical,
    domain_of,
    redact,
    redacted,
    require_http_url,
    same_site,
    site_of,
    spelling,
    without_passwords,
)

PASSWORDS = [
    ("redis://:geheim@host:6379/0", "redis://:***@host:6379/0"),
    ("postgresql://user:ge@heim@host/name", "postgresql://user:***@host/name"),
    ("postgresql://host/name?password=geheim&x=1", "postgresql://host/name?password=***&x=1"),
    ("no http:user:ge@heim@host today", "no http:user:***@host today"),
    ("host=db password=geheim dbname=v", "host=db password=*** dbname=v"),
    ("host=db password = 'ge heim' dbname=v", "host=db password = *** dbname=v"),
    ("PGPASSWORD=geheim psql", "PGPASSWORD=*** psql"),
    ('"https://u:geheim@a.example/" and "http://v:geheim@b.example/"',
     '"https://u:***@a.example/" and "http://v:***@b.example/"'),
]  # fmt: skip
SECRETS = [
    ("https://a.example/p?token=geheim&x=1#t", "https://a.example/p?token=***&x=1#t"),
    ("https://a.example/p?a=1&X-Amz-Signature=geheim", "https://a.example/p?a=1&X-Amz-Signature=***"),
    ("/p?sig=geheim&api_key=geheim&apikey=geheim", "/p?sig=***&api_key=***&apikey=***"),
    ("/p?auth=geheim&a_token=geheim&u[password]=geheim", "/p?auth=***&a_token=***&u[password]=***"),
    ("/p;jsessionid=geheim?session=geheim&PHPSESSID=geheim", "/p;jsessionid=***&PHPSESSID=***"),
    ("/go?next=https%3A%2F%2Fb.example%3Fsecret%3Dgeheim%26x%3D1",
     "/go?next=https%3A%2F%2Fb.example%3Fsecret%3D***%26x%3D1"),
]  # fmt: skip
HARMLESS = [
    "/p?author=me&design=2&monkey=3&passenger=2&signal=5&key=1",
    "session_id=5c1e token=7",
    "a = 'password' and b",
    "http://127.0.0.1:8080/@someone",
    "https://user@host/",
    "mail me@example.com, see https://host:8443/",
    "at 10:30 someone@host came",
]


DOMAINS = {
    "https://example.com/": "example.com",
    "example.com": "example.com",
    "//example.com/path": "example.com",
    "  https://example.com/\n": "example.com",
    "https://example.com?next=https://other.example/": "example.com",
    "https://example.com#https://other.example/": "example.com",
    "example.com/out?to=https://other.example/": "example.com",
    "shop.example.com/a/b": "shop.example.com",
    "https://www.www.example.com/": "www.example.com",
    "https://wwwexample.com/": "wwwexample.com",
    "https://user:pw@Example.com:8443/x": "example.com:8443",
    "https://www.evil.example@example.com/": "example.com",
    "https://user:p%40ss@example.com/": "example.com",
    "http://example.com:80/": "example.com",
    "https://example.com:443/": "example.com",
    "http://example.com:443/": "example.com:443",
    "https://example.com:80/": "example.com:80",
    "https://example.com:/": "example.com",
    "example.com:8443": "example.com:8443",
    "https://example.com./": "example.com",
    "https://www.example.com.:8443/": "example.com:8443",
    "https://Bücher.example/": "xn--bcher-kva.example",
    "https://XN--BCHER-KVA.example/": "xn--bcher-kva.example",
    "https://www.bücher.example:8443/": "xn--bcher-kva.example:8443",
    "https://faß.example/": "xn--fa-hia.example",
    "https://\uff45\uff58ample\uff0ecom/": "example.com",
    "https://例え。jp/": "xn--r8jz45g.jp",
    "https://exam\u00adple.com/": "example.com",
    "https://\uff57\uff57\uff57.example.com/": "example.com",
    "http://192.0.2.7:8080/": "192.0.2.7:8080",
    "http://3221225991/": "192.0.2.7",
    "http://0xc0.0.2.7/": "192.0.2.7",
    "http://[2001:DB8:0:0::1]/": "[2001:db8::1]",
    "http://[2001:db8::1]:8080/": "[2001:db8::1]:8080",
    "http://[fe80::1%25eth0]/": "[fe80::1]",
    "http://[::ffff:192.0.2.7]/": "192.0.2.7",
    "https://my_shop.example.com/": "my_shop.example.com",
    "https://a--b.example/": "a--b.example",
}

GARBAGE = [
    "",
    "http://",
    "https:///path",
    "file:///etc/passwd",
    "http://:80/",
    "http://.",
    "http://.example.com/",
    "http://example.com../",
    "http://exa mple.com/",
    "http://example.com:port/",
    "http://example.com:99999/",
    "http://[::1/",
    "http://::1/",
    "http://1.2.3.4.5/",
    "http://example.123/",
    "http://%65xample.com/",
    "http://internal\\@public.example/",
    "http://ex\u2100mple.com/",
    "http://xn--a\u0301\u0301.example/",
    f"http://{'a' * 64}.example/",
    f"http://{'a.' * 130}example/",
    "javascript:alert(1)",
]


@pytest.mark.parametrize(("spelling", "domain"), DOMAINS.items())
def test_one_domain_for_all_spellings(spelling: str, domain: str) -> None:
    """Whatever way a site is written, its sessions meet at one lock (SPEC A3-A5)."""
    assert domain_of(spelling) == domain


@pytest.mark.parametrize("spelling", GARBAGE)
def test_garbage_has_no_domain(spelling: str) -> None:
    """What names no host is refused before any key is built."""
    with pytest.raises(BadUrlError):
        domain_of(spelling)


def test_password_stays_out_of_the_error() -> None:
    """A refused URL is shown without its password."""
    with pytest.raises(BadUrlError) as refused:
        domain_of("https://user:canary@exa mple.com/")
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("shop.example", "is not an http or https URL"),
        ("ftp://shop.example/", "is not an http or https URL"),
        ("javascript:alert(1)", "is not an http or https URL"),
        ("https://shop.example/a b", "has a space, a backslash or a control character in it"),
        ("https://shop.example\\@other.example/", "has a space, a backslash or a control character in it"),
        ("https://shop.example/\x00", "has a space, a backslash or a control character in it"),
        ("https://shop.example/" + "a" * 9000, "is too long"),
        ("https:///p", "names no host"),
        ("https://[::g]/", "is not a"),
    ],
)
def test_what_cannot_be_crawled_is_told(url: str, why: str) -> None:
    """In words that say what to mend; wrong usage, exit code 2."""
    with pytest.raises(BadUrlError, match=why) as refused:
        require_http_url(url)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP://Shop.Example:80/%7Ea/?b=2&a=1#frag", "http://shop.example/~a/?a=1&b=2"),
        ("https://shop.example:443", "https://shop.example/"),
        ("https://sh\u00f6p.example/\u00e4", "https://xn--shp-tna.example/%C3%A4"),
        ("https://shop.example/?a=", "https://shop.example/?a=#top"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8:0::1]/"),
    ],
)
def test_spellings_of_a_page_are_one(one: str, other: str) -> None:
    """And the canonical form is its own."""
    assert canonical(one) == canonical(other)
    assert canonical(canonical(one)) == canonical(one)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("HTTP://WWW.Shop.Example:80/A?b=2&a=1&c#top", "http://www.shop.example/A?b=2&a=1&c"),
        ("https://shop.example:443", "https://shop.example/"),
        ("https://shop.example:8443/%7Ea/#", "https://shop.example:8443/%7Ea/"),
        ("https://SH\u00d6P.example/p", "https://xn--shp-tna.example/p"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"),
        ("https://me:secret@Shop.Example/#top", "https://me:secret@Shop.Example/#top"),
        ("no URL#at all", "no URL#at all"),
    ],
)
def test_a_url_is_stored_in_one_spelling(given: str, stored: str) -> None:
    """SPEC F160: of scheme, host and port; path and query are the site's own, and what is no URL stays."""
    assert spelling(given) == spelling(stored) == stored


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://shop.example/", "https://shop.example/"),
        ("https://shop.example/", "https://www.shop.example/"),
        ("https://shop.example:8443/", "https://shop.example/"),
        ("https://shop.example/?a=1&a=2", "https://shop.example/?a=1"),
        ("https://shop.example/A", "https://shop.example/a"),
        ("https://shop.example/?a", "https://shop.example/"),
    ],
)
def test_different_pages_stay_different(one: str, other: str) -> None:
    """A page must not be passed over because it looks like another."""
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.shop.example.co.uk/p", "example.co.uk"),
        ("https://m.shop.com/", "shop.com"),
        ("https://shop.com:8443/", "shop.com"),
        ("http://plain.localhost:8000/", "plain.localhost"),
        ("http://127.0.1.1:8000/", "127.0.1.1"),
        ("http://[2001:db8::1]/", "2001:db8::1"),
        ("http://localhost/", "localhost"),
        ("https://co.uk/", "co.uk"),
    ],
)
def test_the_site_bounds_a_visit(url: str, site: str) -> None:
    """The registrable domain, by a list that is never fetched; an address is a site of its own."""
    assert site_of(url) == site


def test_ports_and_subdomains_do_not_part_a_site() -> None:
    """But two shops under one public suffix are two sites."""
    assert same_site("https://www.shop.co.uk/", "http://img.shop.co.uk:8080/")
    assert not same_site("https://one.co.uk/", "https://two.co.uk/")
    assert not same_site("http://127.0.1.1/", "http://127.0.1.2/")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:geheim@shop.example/p", "https://user:***@shop.example/p"),
        ("redis://:ge@heim@host/0", "redis://:***@host/0"),
        ("postgresql://host/v?password=geheim&x=1", "postgresql://host/v?password=***&x=1"),
        ("user:geheim@shop.example", "user:***@shop.example"),
        ("https://user@shop.example/", "https://user@shop.example/"),
        ("https://shop.example/p?a=1", "https://shop.example/p?a=1"),
        ("no url at all", "no url at all"),
    ],
)
def test_a_shown_url_has_no_password(url: str, shown: str) -> None:
    """Everything else stays, so that it can be recognised."""
    assert redact(url) == shown


@pytest.mark.parametrize(("text", "safe"), PASSWORDS)
def test_passwords_are_replaced(text: str, safe: str) -> None:
    """Whatever stands around the URL, and whatever is in the password."""
    assert redacted(text) == safe


@pytest.mark.parametrize(("text", "safe"), SECRETS)
def test_secrets_of_a_query_are_not_shown(text: str, safe: str) -> None:
    """By the parameter's name; what is stored keeps them, as it is what was fetched."""
    assert redacted(text) == redact(text) == safe
    assert without_passwords(text) == text


@pytest.mark.parametrize(("text", "_"), [*PASSWORDS, *SECRETS])
def test_json_stays_json(text: str, _: str) -> None:
    """The redaction of a document hides what it has to, and no quote of the document."""
    document = json.dumps(
        {"AWS_SECRET_ACCESS_KEY": "", "a": text, "password=": f'"{text}"', "b": f"{text}\n"}
    )
    assert "geheim" not in "".join(json.loads(redacted(document)).values())


def test_redacting_takes_no_time() -> None:
    """Hostile text is no more work than any other."""
    for piece in ("&a", "?token", "a:", "://a:", "password", "%26pass", "a:b:", "&" + "x" * 60):
        long = piece * (100_000 // len(piece))
        for text in (f"{long}=@", f"=@ {long}"):  # the second has no password where one begins at each colon
            began = time.process_time()
            redacted(text)
            assert time.process_time() - began < 5


@pytest.mark.parametrize("text", HARMLESS)
def test_the_rest_stays(text: str) -> None:
    """An @ alone is no password."""
    assert redacted(text) == text


def test_the_short_way_to_a_canonical_url_is_the_long_one() -> None:
    """Whatever it takes for canonical already is."""
    chance = random.Random(3)
    signs = "abz019-_.~/%+AZ:?#&=@"
    for _ in range(3_000):
        host = "".join(chance.choice("abz019-.") for _ in range(chance.randint(1, 12)))
        path = "".join(chance.choice(signs) for _ in range(chance.randint(0, 10)))
        url = f"http{chance.choice(['', 's'])}://{host}.{chance.choice(['example', 'co', '1', 'x1'])}/{path}"
        try:
            expected = _canonical(url)
        except (BadUrlError, ValueError):
            with pytest.raises((BadUrlError, ValueError)):
                canonical(url)
        else:
            assert canonical(url) == expected
    assert canonical("https://shop.example/p/1_a-b.html") == "https://shop.example/p/1_a-b.html"
