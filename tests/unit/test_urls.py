"""URLs as identities: one site has one domain, however it is spelled; garbage has none."""

from __future__ import annotations

import pytest

from crawler.errors import BadUrlError
from crawler.urls import domain_of

DOMAINS = {
    # the documented examples
    "https://example.com/": "example.com",
    "HTTPS://WWW.EXAMPLE.COM": "example.com",
    "example.com": "example.com",
    "www.example.com": "example.com",
    "https://www.example.com/path": "example.com",
    # scheme, path, query, fragment
    "http://example.com": "example.com",
    "//example.com/path": "example.com",
    "  https://example.com/\n": "example.com",
    "https://example.com?next=https://other.example/": "example.com",
    "https://example.com#https://other.example/": "example.com",
    "example.com/out?to=https://other.example/": "example.com",
    "shop.example.com/a/b": "shop.example.com",
    # www, once
    "https://www.www.example.com/": "www.example.com",
    "https://www2.example.com/": "www2.example.com",
    "https://wwwexample.com/": "wwwexample.com",
    # userinfo
    "https://user:pw@Example.com:8443/x": "example.com:8443",
    "https://user@www.example.com/": "example.com",
    "https://www.evil.example@example.com/": "example.com",
    "https://user:p%40ss@example.com/": "example.com",
    # ports
    "http://example.com:80/": "example.com",
    "https://example.com:443/": "example.com",
    "http://example.com:443/": "example.com:443",
    "https://example.com:80/": "example.com:80",
    "https://example.com:/": "example.com",
    "https://example.com:0443/": "example.com",
    "example.com:8443": "example.com:8443",
    "example.com:443": "example.com:443",
    "localhost:8000": "localhost:8000",
    # trailing dot
    "https://example.com./": "example.com",
    "https://www.example.com.:8443/": "example.com:8443",
    # international names
    "https://Bücher.example/": "xn--bcher-kva.example",
    "https://xn--bcher-kva.example/": "xn--bcher-kva.example",
    "https://XN--BCHER-KVA.example/": "xn--bcher-kva.example",
    "https://www.bücher.example:8443/": "xn--bcher-kva.example:8443",
    "https://faß.example/": "xn--fa-hia.example",
    "https://\uff45\uff58ample\uff0ecom/": "example.com",
    "https://例え。jp/": "xn--r8jz45g.jp",
    "https://exam\u00adple.com/": "example.com",
    "https://\uff57\uff57\uff57.example.com/": "example.com",
    "bücher.example": "xn--bcher-kva.example",
    # addresses
    "http://192.0.2.7/": "192.0.2.7",
    "http://192.0.2.7:8080/": "192.0.2.7:8080",
    "http://3221225991/": "192.0.2.7",
    "http://0xc0.0.2.7/": "192.0.2.7",
    "http://192.0.519/": "192.0.2.7",
    "http://[2001:DB8:0:0::1]/": "[2001:db8::1]",
    "http://[2001:db8::1]:8080/": "[2001:db8::1]:8080",
    "http://[2001:db8::1]:80/": "[2001:db8::1]",
    "http://[fe80::1%25eth0]/": "[fe80::1]",
    "http://[::ffff:192.0.2.7]/": "192.0.2.7",
    # names that only look odd
    "https://my_shop.example.com/": "my_shop.example.com",
    "https://a--b.example/": "a--b.example",
    "https://3com.example/": "3com.example",
}

GARBAGE = [
    "",
    "   ",
    "http://",
    "https:///path",
    "file:///etc/passwd",
    "http://:80/",
    "http://user@/",
    "http://.",
    "http://.example.com/",
    "http://example..com/",
    "http://example.com../",
    "http://exa mple.com/",
    "http://example.com:port/",
    "http://example.com:99999/",
    "http://example.com:-1/",
    "http://[::1/",
    "http://[::g]/",
    "http://::1/",
    "http://1.2.3.4.5/",
    "http://256.1.1.1/",
    "http://example.123/",
    "http://%65xample.com/",
    "http://exam!ple.com/",
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


@pytest.mark.parametrize("domain", sorted(set(DOMAINS.values())))
def test_domain_is_its_own_domain(domain: str) -> None:
    """A domain that came out goes in again as itself, except that a further `www.` would go."""
    assert domain_of(domain) == domain.removeprefix("www.")


def test_password_stays_out_of_the_error() -> None:
    """A refused URL is shown without its password."""
    with pytest.raises(BadUrlError) as refused:
        domain_of("https://user:canary@exa mple.com/")
    assert "canary" not in str(refused.value)
