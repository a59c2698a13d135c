"""URLs as identities: the canonical form, the domain that is locked, the site that bounds a visit."""

from __future__ import annotations

import ipaddress
import re
import socket
from functools import cache, lru_cache, wraps
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit, urlunsplit

import idna
from w3lib.url import canonicalize_url

from crawler.errors import BadUrlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tldextract import TLDExtract

SCHEMES = ("http", "https")
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 8192
MAX_HOST_CHARS = 253
REMEMBERED, REMEMBERED_CHARS = 4096, 512  # URLs of which answers are kept, and how long these may be
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
UNSPEAKABLE = re.compile(r"[\x00-\x20\x7f\\]")
_HAS_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|//", re.IGNORECASE)
# A password never reaches a line or a row, whoever wrote it: in a URL, in one without its slashes, for libpq.
_URL_PASSWORD = re.compile(r"(://[^/\s:@\"']*):[^/\s\"']*@")
# One begins at many a colon and ends with the last @ of its piece: each piece is looked at once, up to that.
_PIECE = re.compile(r"[^/\s\"']++")
_BARE_PASSWORD = re.compile(r"\b([a-z][a-z0-9+.-]{0,20}:[^/\s:@\"',=(]*+):.*", re.IGNORECASE)
_WORD_PASSWORD = re.compile(
    r"(?<![?&;\w])((?:pg|ssl)?password\s*=\s*)('[^'\"\\\n]*'|'?[^\s&#\"',;)\\]+)", re.IGNORECASE
)
_QUERY_PASSWORD = re.compile(r"([?&](?:ssl)?password=)[^&#\s\"']+", re.IGNORECASE)
# How secrets are called: parameters in a URL's query, and headers of a request.
_NAMED_SO = r"""
    (?:[\w.%\[\]-]{0,40}(?:token|secret|signature|passw|credential|session|api[_-]?key|
                          (?:access|private|auth|licen[cs]e|subscription)[_-]?key)[\w.%\[\]-]{0,40}?
      |(?:[\w.%\[\]-]{0,40}[_.\[-])?
       (?:sig|auth|oauth|authorization|authentication|pass|pwd|pin|otp|jwt|sid)(?:\]|%5d)?
      |(?:php|asp|aspx|j)sess(?:ion)?id)
"""
_IS_SECRET = re.compile(_NAMED_SO, re.IGNORECASE | re.VERBOSE)
# Nor does what a parameter holds that is named like a secret; the URL that is fetched and stored keeps it.
_SECRET_PARAMETER = re.compile(
    rf"""((?:[?&;]|%3f|%26){_NAMED_SO}(?:=|%3d))(?:(?!%26)[^&\#;\s"'<>\\])+""", re.IGNORECASE | re.VERBOSE
)
# Scrapy shows the settings that were overridden, and has one of this name itself.
_SECRET_SETTING = re.compile(r"(AWS_(?:SECRET_ACCESS_KEY|SESSION_TOKEN)[\"']?\s*[:=,]\s*[\"']?)[^\s'\",}]+")
# Plain names, of which the last is no number, and a plain path.
_CANONICAL = re.compile(
    r"https?://(?=[^/]{1,250}/)(?:(?=[^.]{1,60}\.)[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,20}"
    r"(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?"
)
# Parameters that say where a visitor came from, or number visitors, and nothing about the page.
_TRACKING = re.compile(
    r"(?:utm_\w*|mtm_\w*|pk_\w*|hsa_\w*|gclid|gclsrc|dclid|gbraid|wbraid|gad_source|gad_campaignid|srsltid"
    r"|fbclid|msclkid|yclid|ysclid|twclid|ttclid|li_fat_id|igsh|igshid|epik|_ga|_gl|mc_cid|mc_eid|_hsenc|_hsmi"
    r"|mkt_tok|vero_id|oly_anon_id|oly_enc_id|_openstat|phpsessid|jsessionid|aspsessionid\w*)",
    re.IGNORECASE,
)
_ENDS_IN_NUMBER = re.compile(r"(.*\.)?(\d+|0x[0-9a-f]*)")


def _remembering(answer: Callable[[str], str]) -> Callable[[str], str]:
    """Keep what was said of the last URLs: a page's links are those of the page before."""
    known = lru_cache(REMEMBERED)(answer)

    @wraps(answer)
    def asked(url: str) -> str:
        return known(url) if len(url) <= REMEMBERED_CHARS else answer(url)

    return asked


def require_http_url(text: str) -> str:
    """Return `text` stripped if a crawl can start there; say what is wrong with it otherwise."""
    url = text.strip()
    if len(url) > MAX_URL_CHARS:
        raise BadUrlError(f"a URL of {len(url)} characters is too long (at most {MAX_URL_CHARS})")
    if UNSPEAKABLE.search(url):
        raise BadUrlError(f"{redact(url)!r} has a space, a backslash or a control character in it")
    parts = _split(url)
    if parts.scheme.lower() not in SCHEMES:
        raise BadUrlError(
            f"{redact(url)!r} is not an http or https URL", hint="write it as https://host/path"
        )
    if "@" in parts.netloc:
        raise BadUrlError(f"{redact(url)!r} has a user name in it", hint="only public pages are crawled")
    domain_of(url)
    return url


@_remembering
def domain_of(url: str) -> str:
    """The domain that a visit to `url` locks (SPEC A5): host in ASCII, without `www.`, with an odd port.

    A domain, or a host name as operators type it, is taken as well, and its port stays: no scheme says
    which one is the default.
    """
    text = url.strip()
    parts = _split(text if _HAS_SCHEME.match(text) else f"//{text}")
    host = _host(parts).removeprefix("www.")
    if not host:
        raise BadUrlError(f"{redact(url)!r} names no host")
    port = _port(parts)
    shown = f"[{host}]" if ":" in host else host
    if port is None or port == DEFAULT_PORTS.get(parts.scheme.lower()):
        return shown
    return f"{shown}:{port}"


def host_of(url: str) -> str:
    """The host name of `url` in lower-case ASCII, without port and trailing dot."""
    return _host(_split(url))


@cache
def _suffixes() -> TLDExtract:
    """The bundled suffix list, and nothing else: no list is fetched and no cache folder is written."""
    from tldextract import TLDExtract  # ruff: ignore[import-outside-top-level] - slow to load; not all ask

    return TLDExtract(suffix_list_urls=(), cache_dir=None)


@_remembering
def site_of(url: str) -> str:
    """The registrable domain (eTLD+1) of `url`, or its host where there is none."""
    host = host_of(url)
    parts = _suffixes()(host)
    if parts.suffix or parts.ipv4 or ":" in host:
        return parts.top_domain_under_public_suffix or host
    # The suffix list's rule for names that it does not know: the last label is the suffix.
    return ".".join(host.split(".")[-2:])


def same_site(one: str, other: str) -> bool:
    """Whether both URLs belong to one registrable domain; ports and subdomains do not part them."""
    return site_of(one) == site_of(other)


@_remembering
def canonical(url: str) -> str:
    """One spelling for all URLs that fetch the same page; the fragment goes, the query is sorted."""
    # Most are spelt so already, and finding that out by taking them apart takes ten times as long.
    return url if _CANONICAL.fullmatch(url) else _canonical(url)


def _canonical(url: str) -> str:
    parts = _split(canonicalize_url(url, keep_blank_values=True))
    host = _host(parts)
    port = _port(parts)
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != DEFAULT_PORTS.get(parts.scheme):
        netloc = f"{netloc}:{port}"
    return urlunsplit((parts.scheme, netloc, parts.path or "/", parts.query, ""))


def without_tracking(url: str) -> str:
    """Return `url` without the parameters that only track visitors, such as `utm_source` or `gclid`."""
    head, mark, query = url.partition("?")
    if not mark:
        return url
    query, hash_mark, fragment = query.partition("#")
    kept = "&".join(pair for pair in query.split("&") if not _TRACKING.fullmatch(pair.partition("=")[0]))
    return f"{head}{mark if kept or not query else ''}{kept}{hash_mark}{fragment}"


def spelling(url: str) -> str:
    """The spelling in which `url` is stored (SPEC F160); what is no URL stays as it is.

    The host is in lower-case ASCII, without a default port; path and query stay, the fragment goes.
    """
    try:
        parts = _split(url)
        host, port = _host(parts), _port(parts)
    except BadUrlError:
        return url
    if not host or "@" in parts.netloc:
        return url
    scheme, netloc = parts.scheme.lower(), f"[{host}]" if ":" in host else host
    if port is not None and port != DEFAULT_PORTS.get(scheme):
        netloc = f"{netloc}:{port}"
    return urlunsplit((scheme, netloc, parts.path or "/", parts.query, ""))


def root_of(url: str) -> str:
    """The home page of the host that serves `url`."""
    parts = _split(url)
    return urlunsplit((parts.scheme, parts.netloc, "/", "", ""))


def redact(url: str) -> str:
    """`url` without its secrets, fit for a log line; anything unreadable comes back as it is."""
    url = redacted(url)
    head, at, tail = url.rpartition("@")
    if not at:
        return url
    start = head.find("://") + 3 if "://" in head else 0
    user, colon, _ = head[start:].partition(":")
    return f"{head[:start]}{user}{':***' if colon else ''}@{tail}"


def redacted(text: str) -> str:
    """`text` without passwords and without the secrets in its URLs' queries: for all that is shown."""
    text = without_passwords(text)
    return _SECRET_PARAMETER.sub(r"\1***", text) if "=" in text or "%3" in text else text


def is_secret_name(name: str) -> bool:
    """Whether what is called so, a parameter or a header, is a secret."""
    return _IS_SECRET.fullmatch(name) is not None


def without_passwords(text: str, *, in_queries: bool = False) -> str:
    """`text` without the passwords in it: for what is stored, where a URL's query stays what was fetched.

    `in_queries` is for URLs that need not be: what a `password` parameter holds goes too.
    """
    if in_queries:
        text = _QUERY_PASSWORD.sub(r"\1***", text)
    if "@" in text:
        text = _PIECE.sub(_without_bare_password, _URL_PASSWORD.sub(r"\1:***@", text))
    if "=" in text:
        text = _WORD_PASSWORD.sub(r"\1***", text)
    return _SECRET_SETTING.sub(r"\1***", text) if "AWS_" in text else text


def _without_bare_password(piece: re.Match[str]) -> str:
    head, at, tail = piece[0].rpartition("@")
    return _BARE_PASSWORD.sub(r"\1:***", head, count=1) + at + tail if at else piece[0]


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise BadUrlError(f"{redact(url)!r} is not a URL: {error}") from None


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:
        raise BadUrlError(f"{redact(parts.geturl())!r} has a port that is no port") from None


def _host(parts: SplitResult) -> str:
    if UNSPEAKABLE.search(parts.netloc):
        # Programs disagree about which host such a URL names, so nobody may be sent there.
        raise BadUrlError(f"{redact(parts.geturl())!r} has a backslash or a space in its host")
    raw = (parts.hostname or "").removesuffix(".")
    if not raw:
        return ""
    if ":" in raw:
        return _ipv6(raw)
    name = raw if raw.isascii() and "xn--" not in raw else _idna(raw)
    return _ipv4(name) if _ENDS_IN_NUMBER.fullmatch(name) else _checked(name)


def _idna(raw: str) -> str:
    try:
        return idna.encode(raw, uts46=True, transitional=False).decode("ascii").lower()
    except idna.IDNAError:
        raise BadUrlError(f"{raw!r} is not a host name") from None


def _ipv4(raw: str) -> str:
    """One spelling for an address, which may be written as 127.1, 0x7f000001 or 2130706433."""
    try:
        return socket.inet_ntoa(socket.inet_aton(raw))
    except OSError:
        raise BadUrlError(f"{raw!r} is not an address") from None


def _ipv6(raw: str) -> str:
    try:
        address = ipaddress.IPv6Address(raw.split("%", 1)[0])
    except ValueError:
        raise BadUrlError(f"{raw!r} is not an address") from None
    return str(address.ipv4_mapped or address)


def _checked(name: str) -> str:
    if len(name) <= MAX_HOST_CHARS and all(_LABEL.fullmatch(label) for label in name.split(".")):
        return name
    raise BadUrlError(f"{name!r} is not a host name")
