"""The scope of a crawl: which URLs belong to it, by what rule, and what it learns from logins. Pure.

Nothing here raises on a URL, however odd, and no rule or URL makes a judgement slow.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qsl, urljoin, urlsplit

from attrs import evolve, frozen

from crawler.access.globs import MAX_RULE_CHARS, PathRules, comparable_path, comparable_query, literal_rule
from crawler.errors import BadUrlError
from crawler.urls import domain_of, require_http_url, same_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What the filtered tasks of a run have as their last error (SPEC D89).
INVALID_URL = "filtered invalid url"
DOMAIN_RULES = "filtered by domain rules"
PATH_RULES = "filtered by path rules"
MEDIA = "media"

MAX_PARAMETERS = 50
_LOGIN = re.compile(
    r"/(?:log[-_]?(?:in|on)|sign[-_]?in|auth(?:enticate|entication|orize)?|sso|oauth2?|saml2?|openid"
    r"|(?:user[-_]?)?sessions?/new)(?:\.[a-z]{2,5})?(?:/|$)",
    re.IGNORECASE,
)
# Where a visitor comes in: the root, that of a language or a country, and their index pages.
_ENTRANCE = re.compile(
    r"(?:/[a-z]{2}(?:[-_][a-z]{2,4})?){0,2}/?(?:(?:index|default|home)\.[a-z]{2,5})?", re.IGNORECASE
)


@frozen
class Denial:
    """A path rule that a run learnt from a site, for one of its domains."""

    domain: str
    pattern: str
    reason: str


@frozen
class Ruling:
    """What was decided about a URL, and which rule decided it."""

    reason: str | None  # None: it belongs to the crawl
    by: str = ""  # url, allowed_domains, deny, learnt or allow; empty where no rule was needed
    rule: str = ""  # as it was written


_NO_RULES = PathRules(())


@frozen
class Scope:
    """The URLs that belong to a crawl: by domain, then by what is denied, then by what is allowed."""

    domains: tuple[str, ...]  # as locks see them; `*.` in front stands for all subdomains, and not for itself
    allow: PathRules = _NO_RULES  # empty: every path
    deny: PathRules = _NO_RULES  # wins over `allow`
    denials: tuple[Denial, ...] = ()

    @classmethod
    def of(cls, domains: Iterable[str], allow: Iterable[str] = (), deny: Iterable[str] = ()) -> Self:
        """The scope of lists of domains and path rules."""
        return cls(tuple(map(scope_domain, domains)), PathRules(tuple(allow)), PathRules(tuple(deny)))

    def judge(self, url: str, kind: str = "page") -> str | None:
        """Why `url` is filtered, None where it is not; of media only what no crawl could fetch is."""
        return self.ruling(url, kind).reason

    def ruling(self, url: str, kind: str = "page") -> Ruling:
        """The same, with the rule that decided."""
        try:
            url = require_http_url(url)
            domain = domain_of(url)
        except BadUrlError as error:
            return Ruling(INVALID_URL, "url", str(error))
        if kind == MEDIA:
            return Ruling(None)
        listed = self._listed(domain)
        if listed is None:
            return Ruling(DOMAIN_RULES, "allowed_domains", domain)
        return self._by_path(domain, url) or Ruling(None, "allowed_domains", listed)

    def with_denials(self, denials: Iterable[Denial]) -> Self:
        """The scope with what a run has learnt since."""
        known = {(denial.domain, denial.pattern): denial for denial in (*self.denials, *denials)}
        return evolve(self, denials=tuple(known.values()))

    def _by_path(self, domain: str, url: str) -> Ruling | None:
        """What a path rule says; None where there is none to be asked."""
        parts = urlsplit(url)
        path, query = comparable_path(parts.path), comparable_query(parts.query)
        if (rule := self.deny.first(path, query)) is not None:
            return Ruling(PATH_RULES, "deny", rule)
        learnt = self._learnt.get(domain)
        if learnt and (rule := learnt.first(path, query)) is not None:
            return Ruling(PATH_RULES, "learnt", rule)
        if not self.allow.rules:
            return None
        rule = self.allow.first(path, query)
        return Ruling(PATH_RULES, "allow") if rule is None else Ruling(None, "allow", rule)

    def has_domain(self, domain: str) -> bool:
        """Return whether `domain` is one of the listed domains, or below one."""
        return self._listed(domain) is not None

    def _listed(self, domain: str) -> str | None:
        """The listed domain that `domain` is, or is below."""
        if domain in self._domains:
            return domain
        if not self._has_wildcards:
            return None
        dots = (place for place, char in enumerate(domain) if char == ".")
        return next((above for dot in dots if (above := "*" + domain[dot:]) in self._domains), None)

    @cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(self.domains)

    @cached_property
    def _has_wildcards(self) -> bool:
        return any(domain.startswith("*.") for domain in self.domains)

    @cached_property
    def _learnt(self) -> dict[str, PathRules]:
        by_domain: dict[str, list[str]] = {}
        for denial in self.denials:
            by_domain.setdefault(denial.domain, []).append(denial.pattern)
        return {domain: PathRules(tuple(patterns)) for domain, patterns in by_domain.items()}


def scope_domain(text: str) -> str:
    """A domain as a scope lists it, as operators may type it: `shop.example`, `*.shop.example`."""
    bare = text.strip()
    if any(mark in bare.removeprefix("*.") for mark in "*/@?# "):
        raise BadUrlError(f"{text!r} is not a domain", hint="write shop.example or *.shop.example")
    return ("*." if bare.startswith("*.") else "") + domain_of(bare.removeprefix("*."))


def denials_after_redirect(asked_url: str, final_url: str) -> tuple[Denial, ...]:
    """What not to ask for again after a request ended on a login page; nothing where it ended elsewhere.

    A login page has a path that says so and a parameter that names a place of the site that was asked. It is
    denied itself, and what was asked for is denied with all below it. What the login leads back to is not:
    behind `/cup/review` it names `/cup`, which is public. An address with a query says nothing about its path
    (`/cup?add_to_wishlist=1`), and an entrance to the site is never denied.
    """
    try:
        asked, final = require_http_url(asked_url), require_http_url(final_url)
        if not _is_login(final) or not _names_a_place(final, asked):
            return ()
        return tuple(_denials(asked, final))
    except (BadUrlError, UnicodeError):  # the latter: half a character, for which there is no rule
        return ()


def permanent_lines(denials: Iterable[Denial], present: Iterable[str] = ()) -> tuple[str, ...]:
    """The `deny` list for sources.toml that makes denials permanent, with its present rules in front."""
    reasons = dict.fromkeys(present, "") | {denial.pattern: denial.reason for denial in denials}
    lines = [f"    {_toml(rule)}," + (f"  # {why}" if why else "") for rule, why in reasons.items()]
    return ("deny = [", *lines, "]") if reasons else ()


def _denials(asked: str, final: str) -> Iterator[Denial]:
    login = literal_rule(comparable_path(urlsplit(final).path))
    yield from _fitting(domain_of(final), (login,), "a login page")
    parts = urlsplit(asked)
    path = comparable_path(parts.path)
    if not (parts.query or _is_login(asked) or _ENTRANCE.fullmatch(path)):
        guarded = literal_rule(path)
        yield from _fitting(domain_of(asked), (guarded, f"{guarded}/**"), f"led to the login {login}")


def _fitting(domain: str, patterns: Iterable[str], reason: str) -> Iterator[Denial]:
    """Denials of patterns, those left out that are too long to be rules."""
    for pattern in patterns:
        if len(pattern) <= MAX_RULE_CHARS:
            yield Denial(domain, pattern, reason)


def _is_login(url: str) -> bool:
    return _LOGIN.search(urlsplit(url).path) is not None


def _names_a_place(final: str, asked: str) -> bool:
    """Whether a parameter of the page that was reached is a path or a URL of the site that was asked."""
    try:
        parameters = parse_qsl(urlsplit(final).query, max_num_fields=MAX_PARAMETERS)
    except ValueError:  # more of them than anybody needs
        return False
    return any(_is_place(value.strip(), final, asked) for _, value in parameters)


def _is_place(value: str, final: str, asked: str) -> bool:
    if not value.startswith(("/", "http://", "https://")):
        return False
    try:
        return same_site(require_http_url(urljoin(final, value)), asked)
    except (BadUrlError, ValueError):
        return False


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
