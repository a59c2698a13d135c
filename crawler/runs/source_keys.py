"""What a source may say: each key of `sources.toml`, what it takes, and how its value is read."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import frozen

from crawler.access.globs import problem_of
from crawler.access.scope import scope_domain
from crawler.engines.flags import OptionError, checked_option, checked_options, checked_passthrough
from crawler.errors import BadUrlError
from crawler.html.content import problem_of_selector
from crawler.runs.schedules import Schedule, ScheduleError
from crawler.urls import redact, require_http_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PLUGINS = ("page", "product")  # the default
MAX_ENTRIES = 10_000
MAX_NAME_CHARS = 200
MAX_SHOWN_CHARS = 80
MAX_TEXT_CHARS = 2_000
VITRINE, ZIMIT = ENGINES = ("vitrine", "zimit")
DEFAULT_JOB_NAME = "{code}-{date:%Y%m%d}"
DATE = re.compile(r"\{(?:code|date(?::([%A-Za-z0-9._-]{1,40}))?)\}")
_JOB_NAME = re.compile(rf"(?:[A-Za-z0-9._-]|{DATE.pattern})+")
_PLUGIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")


class WrongValueError(ValueError):
    """A value that its key does not take; the message says why."""


@frozen
class Key:
    """A key: how its value is read, and what it takes in words."""

    takes: str
    read: Callable[[Any], Any]
    engine: str | None = None  # that alone knows it; for the other it is a mistake


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
        raise WrongValueError(f"{shown(value)} is not possible; pages of runs are fetched without a browser")
    return "no"


def _text(value: Any, most: int = MAX_TEXT_CHARS) -> str:
    if not isinstance(value, str) or "\x00" in value:
        raise WrongValueError(f"{shown(value)} is no text")
    if len(value) > most:
        raise WrongValueError(f"{shown(value)} is too long")
    return value.strip()


def _selector(value: Any) -> str:
    text = _text(value)
    if problem := problem_of_selector(text):
        raise WrongValueError(f"{shown(value)} is no selector: {problem}")
    return text


def _some_text(value: Any) -> str:
    if not (text := _text(value)):
        raise WrongValueError("an empty text is in every line")
    return text


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError(f"{shown(value)} is neither true nor false")
    return value


def _one_of(choices: tuple[str, ...], value: Any) -> str:
    if value not in choices:
        raise WrongValueError(f"{shown(value)} is none of {', '.join(choices)}")
    return str(value)


def _base_url(value: Any) -> str:
    return _url(_text(value))


def _job_name(value: Any) -> str:
    text = _text(value, MAX_NAME_CHARS)
    if not _JOB_NAME.fullmatch(text):
        raise WrongValueError(f"{shown(value)} is no name of jobs")
    return text


def _schedule(value: Any) -> str:
    try:
        return Schedule.of(_text(value, MAX_NAME_CHARS)).cron
    except ScheduleError as error:
        raise WrongValueError(str(error)) from None


def _arguments(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES:
        raise WrongValueError(f"{shown(value)} is no list")
    if not all(isinstance(entry, str) for entry in value):
        raise WrongValueError(f"{shown(value)} has something in it that is no text")
    try:
        return checked_passthrough(value)
    except OptionError as error:
        raise WrongValueError(f"{error}; {error.hint}" if error.hint else str(error)) from None


def _job(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise WrongValueError(f"{shown(value)} is no table")
    for name, said in value.items():
        try:
            if isinstance(said, str) and checked_option(name, said) != said:
                raise WrongValueError(f"{name}: {shown(said)} is a text")
        except OptionError as error:
            raise WrongValueError(f"{error}; {error.hint}") from None
    try:
        return checked_options(value)
    except OptionError as error:
        raise WrongValueError(f"{error}; {error.hint}") from None


_RULES = 'a list of paths that begin with "/"; * stands for text within a segment, ** across segments'

KEYS: dict[str, Key] = {
    "name": Key(f"a text of at most {MAX_NAME_CHARS} characters", _name),
    "start_urls": Key("a list of http or https URLs, one at least", partial(_list_of, _url, least=1)),
    "allowed_domains": Key(
        'a list of domains like "shop.example", or "*.shop.example" for all subdomains',
        partial(_list_of, _domain, least=1),
    ),
    "allow": Key(_RULES, partial(_list_of, _rule), VITRINE),
    "deny": Key(_RULES, partial(_list_of, _rule), VITRINE),
    "depth": Key("a whole number from 0 to 1000", partial(_whole, least=0, most=1000)),
    "max_pages": Key("a whole number from 1 to 100000000", partial(_whole, least=1, most=100_000_000)),
    "plugins": Key('a list of names like "page", one at least', partial(_list_of, _plugin, least=1), VITRINE),
    "render": Key('"no"', _render, VITRINE),
    "fetch_timeout_seconds": Key("a number from 1 to 600", partial(_number, least=1, most=600), VITRINE),
    "jitter_seconds": Key("a number from 0 to 300", partial(_number, least=0, most=300), VITRINE),
    "max_retries": Key("a whole number from 1 to 20", partial(_whole, least=1, most=20), VITRINE),
    "base_url": Key("an http or https URL", _base_url),
    "description": Key(f"a text of at most {MAX_TEXT_CHARS} characters", _text),
    "enabled": Key("true or false", _flag),
    "engine": Key("one of vitrine, zimit", partial(_one_of, ENGINES)),
    "engine_args": Key(
        "a list of arguments, but for those that the archive tool says itself", _arguments, ZIMIT
    ),
    "job_name": Key(
        "a name of letters, digits and . _ - in between, with {code}, {date} or {date:%Y%m%d} in it",
        _job_name,
    ),
    "judge": Key("true or false", _flag, VITRINE),
    "requisites": Key("true or false", _flag, VITRINE),
    "group_by": Key("one of query, path", partial(_one_of, ("query", "path"))),
    "ignore_selectors": Key("a list of CSS selectors", partial(_list_of, _selector)),
    "ignore_text": Key("a list of texts, none of them empty", partial(_list_of, _some_text)),
    "schedule": Key('the five fields of a crontab, such as "0 3 * * 1", or one of cron\'s names', _schedule),
    "job": Key("a table of options of the archive tool: [sources.CODE.job]", _job),
}
