"""What each key of a source in `sources.toml` takes, and what is said of a value that it does not."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.access.globs import problem_of
from crawler.access.scope import scope_domain
from crawler.errors import BadUrlError
from crawler.urls import redact, require_http_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PLUGINS = ("page", "product")  # the default
MAX_ENTRIES = 10_000
MAX_NAME_CHARS = 200
MAX_SHOWN_CHARS = 80
_PLUGIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")


class WrongValueError(ValueError):
    """A value that its key does not take; the message says why."""


@frozen
class Key:
    """A key: how its value is read, and what it takes in words."""

    takes: str
    read: Callable[[Any], Any]


def shown(value: Any) -> str:
    """A value as an error may show it: short, and without a password."""
    text = redact(repr(value))
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"


def each_once(values: Iterable[str]) -> tuple[str, ...]:
    """The values in their order, without repetitions."""
    return tuple(dict.fromkeys(values))


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise WrongValueError(f"{shown(value)} is no name")
    if len(value) > MAX_NAME_CHARS:
        raise WrongValueError(f"{shown(value)} is too long")
    return value.strip()


def _list_of(check: Callable[[str], str], value: Any, *, least: int = 0) -> tuple[str, ...]:
    """A list of texts that pass a check, which may write them in another way."""
    if not isinstance(value, list):
        raise WrongValueError(f"{shown(value)} is no list")
    if not least <= len(value) <= MAX_ENTRIES:
        raise WrongValueError(f"a list of {len(value)}")
    for entry in value:
        if not isinstance(entry, str):
            raise WrongValueError(f"{shown(entry)} is no text")
    return each_once(map(check, value))


def _url(text: str) -> str:
    try:
        return require_http_url(text)
    except BadUrlError as error:
        raise WrongValueError(str(error)) from None


def _domain(text: str) -> str:
    try:
        return scope_domain(text)
    except BadUrlError as error:
        raise WrongValueError(str(error)) from None


def _rule(text: str) -> str:
    if problem := problem_of(text):
        raise WrongValueError(f"{shown(text)} {problem}")
    return text


def _plugin(text: str) -> str:
    if not _PLUGIN.fullmatch(text):
        raise WrongValueError(f"{shown(text)} is no plugin's name")
    return text


def _whole(value: Any, *, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongValueError(f"{shown(value)} is no whole number")
    if not least <= value <= most:
        raise WrongValueError(f"{shown(value)} is out of its range")
    return value


def _number(value: Any, *, least: float, most: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise WrongValueError(f"{shown(value)} is no number")
    if not least <= value <= most:
        raise WrongValueError(f"{shown(value)} is out of its range")
    return float(value)


def _render(value: Any) -> str:
    if value != "no":
        raise WrongValueError(f"{shown(value)} is not possible yet; pages are fetched without a browser")
    return "no"


_RULES = 'a list of paths that begin with "/"; * stands for text within a segment, ** across segments'

KEYS: dict[str, Key] = {
    "name": Key(f"a text of at most {MAX_NAME_CHARS} characters", _name),
    "start_urls": Key("a list of http or https URLs, one at least", partial(_list_of, _url, least=1)),
    "allowed_domains": Key(
        'a list of domains like "shop.example", or "*.shop.example" for all subdomains',
        partial(_list_of, _domain, least=1),
    ),
    "allow": Key(_RULES, partial(_list_of, _rule)),
    "deny": Key(_RULES, partial(_list_of, _rule)),
    "depth": Key("a whole number from 0 to 1000", partial(_whole, least=0, most=1000)),
    "max_pages": Key("a whole number from 1 to 100000000", partial(_whole, least=1, most=100_000_000)),
    "plugins": Key('a list of names like "page", one at least', partial(_list_of, _plugin, least=1)),
    "render": Key('"no"', _render),
    "fetch_timeout_seconds": Key("a number from 1 to 600", partial(_number, least=1, most=600)),
    "jitter_seconds": Key("a number from 0 to 300", partial(_number, least=0, most=300)),
    "max_retries": Key("a whole number from 1 to 20", partial(_whole, least=1, most=20)),
}
