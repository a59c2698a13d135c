"""Sources: what a durable run crawls, as `sources.toml` says it, or as one URL does."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property, partial
from importlib.metadata import entry_points
from importlib.resources import files
from itertools import starmap
from typing import TYPE_CHECKING, Any, Self

from attrs import asdict, field, fields, frozen

from crawler.access.globs import examples_of, problem_of
from crawler.access.scope import Scope, scope_domain
from crawler.engines.flags import OptionError, checked_option, checked_options, checked_passthrough
from crawler.errors import BadUrlError, ConfigError, UsageError
from crawler.html.content import problem_of_selector
from crawler.runs.schedules import Schedule, ScheduleError
from crawler.urls import domain_of, redact, require_http_url

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from datetime import datetime
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from crawler.access.scope import Ruling


PLUGINS = ("page", "product")  # the default
BUNDLED = files("crawler.runs") / "bundled_sources.toml"
MAX_ENTRIES = 10_000
MAX_NAME_CHARS = 200
MAX_SHOWN_CHARS = 80
MAX_TEXT_CHARS = 2_000
ENGINES = ("vitrine", "zimit")
DEFAULT_JOB_NAME = "{code}-{date:%Y%m%d}"
_DATE = re.compile(r"\{(?:code|date(?::([%A-Za-z0-9._-]{1,40}))?)\}")
_JOB_NAME = re.compile(rf"(?:[A-Za-z0-9._-]|{_DATE.pattern})+")
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
    "allow": Key(_RULES, partial(_list_of, _rule)),
    "deny": Key(_RULES, partial(_list_of, _rule)),
    "depth": Key("a whole number from 0 to 1000", partial(_whole, least=0, most=1000)),
    "max_pages": Key("a whole number from 1 to 100000000", partial(_whole, least=1, most=100_000_000)),
    "plugins": Key('a list of names like "page", one at least', partial(_list_of, _plugin, least=1)),
    "render": Key('"no"', _render),
    "fetch_timeout_seconds": Key("a number from 1 to 600", partial(_number, least=1, most=600)),
    "jitter_seconds": Key("a number from 0 to 300", partial(_number, least=0, most=300)),
    "max_retries": Key("a whole number from 1 to 20", partial(_whole, least=1, most=20)),
    "base_url": Key("an http or https URL", _base_url),
    "description": Key(f"a text of at most {MAX_TEXT_CHARS} characters", _text),
    "enabled": Key("true or false", _flag),
    "engine": Key("one of vitrine, zimit", partial(_one_of, ENGINES)),
    "engine_args": Key("a list of arguments, but for those that the archive tool says itself", _arguments),
    "job_name": Key(
        "a name of letters, digits and . _ - in between, with {code}, {date} or {date:%Y%m%d} in it",
        _job_name,
    ),
    "judge": Key("true or false", _flag),
    "requisites": Key("true or false", _flag),
    "group_by": Key("one of query, path", partial(_one_of, ("query", "path"))),
    "ignore_selectors": Key("a list of CSS selectors", partial(_list_of, _selector)),
    "ignore_text": Key("a list of texts, none of them empty", partial(_list_of, _some_text)),
    "schedule": Key('the five fields of a crontab, such as "0 3 * * 1", or one of cron\'s names', _schedule),
    "job": Key("a table of options of the archive tool: [sources.CODE.job]", _job),
}
# What only one of the engines can do; for the other it is a mistake.
ENGINES_OWN = {
    "vitrine": (
        "allow", "deny", "plugins", "render", "fetch_timeout_seconds", "jitter_seconds", "max_retries",
        "judge", "requisites",
    ),
    "zimit": ("engine_args",),
}  # fmt: skip


# ── sources: what a durable run crawls, as `sources.toml` says it, or as one URL does ──


_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")


@frozen
class Source:
    """What is crawled, and within which limits; a run keeps the one that it was started with."""

    code: str
    name: str
    start_urls: tuple[str, ...]
    allowed_domains: tuple[str, ...]
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    depth: int | None = None  # links from a start URL; None: no limit
    max_pages: int | None = None
    plugins: tuple[str, ...] = PLUGINS
    render: str = "no"
    fetch_timeout_seconds: float | None = None  # None: as the crawl's settings say
    jitter_seconds: float | None = None  # None: as TASK_JITTER_SECONDS says
    max_retries: int | None = None  # attempts at a page in all; None: as TASK_MAX_RETRIES says
    # as jobs archive it
    base_url: str | None = None
    description: str = ""
    enabled: bool = True  # whether jobs may be made of it
    engine: str = "vitrine"
    engine_args: tuple[str, ...] = ()  # for the engine as they are
    job_name: str = DEFAULT_JOB_NAME
    judge: bool = True  # whether pages are judged by the rule of product pages
    requisites: bool = False  # whether stylesheets, pictures and fonts are fetched along
    group_by: str = "query"  # which URLs are one page: those of one path, or of one path and query
    ignore_selectors: tuple[str, ...] = ()  # what of a page is no part of its text
    ignore_text: tuple[str, ...] = ()
    schedule: str | None = None  # five fields of a crontab
    job: Mapping[str, Any] = field(factory=dict)  # options of the archive tool

    @classmethod
    def of_url(cls, url: str, max_pages: int | None = None, depth: int | None = None) -> Self:
        """The source that a URL alone makes: its domain."""
        url = require_http_url(url)
        domain = domain_of(url)
        return cls(domain, domain, (url,), (domain,), depth=depth, max_pages=max_pages)

    @classmethod
    def of_plan(cls, plan: Mapping[str, Any]) -> Self:
        """The source that a run was started with; what an older plan does not say is as by default."""
        known = {name: plan[name] for name in _NAMES if name in plan}
        said: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in known.items()
        }
        return cls(**said)

    def as_plan(self) -> dict[str, Any]:
        """The source as JSON knows it."""
        return {name: list(said) if isinstance(said, tuple) else said for name, said in asdict(self).items()}

    @cached_property
    def scope(self) -> Scope:
        """The URLs that belong to it."""
        return Scope.of(self.allowed_domains, self.allow, self.deny)


_NAMES = tuple(field.name for field in fields(Source))


def job_name_of(source: Source, now: datetime) -> str:
    """What a job of this source is called that is made now (SPEC 30)."""

    def filled(found: re.Match[str]) -> str:
        return source.code if found[0] == "{code}" else now.strftime(found[1] or "%Y%m%d")

    return _DATE.sub(filled, source.job_name)


def load_sources(path: Path | Traversable) -> dict[str, Source]:
    """The sources of a file by code, in its order; the first thing that is wrong with it is an error."""
    tables = _tables(path)
    unknown = next((key for key in tables if key != "sources"), None)
    if unknown is not None:
        raise ConfigError(
            f"{path}: there is no place for {shown(unknown)} outside of a source",
            hint="every source has a table of its own: [sources.CODE]",
        )
    sources = tables.get("sources", {})
    if not isinstance(sources, dict):
        raise ConfigError(f"{path}: sources is no table", hint="write each as [sources.CODE]")
    _refuse_twins(path, sources)
    return {code: _source(path, code, table) for code, table in sources.items()}


def bundled_sources() -> dict[str, Source]:
    """The sources that come along; those of the operator's file hide the ones of the same code."""
    return load_sources(BUNDLED)


def find_source(path: Path, code: str) -> Source:
    """The source with a code, in whichever case: of the file, or else one that comes along."""
    bundled = bundled_sources()
    own = load_sources(path) if path.exists() or code.lower() not in bundled else {}
    by_code = {**bundled, **{each.code.lower(): each for each in own.values()}}
    if code.lower() not in by_code:
        listed = ", ".join(list(own)[:20]) or "none"
        raise UsageError(f"{path} has no source {shown(code)}", hint=f"it has: {listed}")
    return by_code[code.lower()]


def _refuse_twins(path: Path | Traversable, codes: Iterable[str]) -> None:
    seen: dict[str, str] = {}
    for code in codes:
        if seen.setdefault(code.lower(), code) != code:
            raise ConfigError(
                f"{path}: source {shown(code)} differs from {shown(seen[code.lower()])} by its case alone",
                hint="codes are unique without regard to case",
            )


def _tables(path: Path | Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        hint = "docs/sources.md has an example; SOURCES_FILE says where yours is"
        raise ConfigError(f"there is no file {path}", hint=hint) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 (byte {error.start})", hint="TOML is always UTF-8") from None
    except (ValueError, RecursionError) as error:  # numbers and nesting beyond what Python reads, too
        reason = " ".join(str(error).split())
        raise ConfigError(f"{path} is not TOML: {reason}", hint="docs/sources.md has an example") from None


def _source(path: Path | Traversable, code: str, table: Any) -> Source:
    where = f"{path}: source {shown(code)}"
    if not _CODE.fullmatch(code):
        raise ConfigError(
            f"{where} has a code that is no code", hint="letters, digits and . _ : - in between, at most 100"
        )
    if not isinstance(table, dict):
        raise ConfigError(f"{where} is no table", hint=f"write it as [sources.{code}]")
    said = {key: _read(where, code, key, value) for key, value in table.items()}
    if not said.get("start_urls"):
        raise ConfigError(f"{where}: start_urls is missing", hint='start_urls = ["https://shop.example/"]')
    _refuse_others(where, said)
    domains = each_once(domain_of(url) for url in said["start_urls"])
    return Source(code=code, **{"name": code, "allowed_domains": domains, **said})


def _refuse_others(where: str, said: Mapping[str, Any]) -> None:
    """Refuse the keys that the source's engine knows nothing of."""
    engine = said.get("engine", "vitrine")
    for other, keys in ENGINES_OWN.items():
        lost = next((key for key in keys if key in said), None)
        if other != engine and lost:
            hint = f'leave it out, or set engine = "{other}"'
            raise ConfigError(
                f"{where}: {lost} is for the engine {other}, and this source has {engine}", hint=hint
            )


def _read(where: str, code: str, name: str, value: Any) -> Any:
    key = KEYS.get(name)
    if key is None:
        raise ConfigError(f"{where}: there is no key {shown(name)}", hint=_hint_for(code, name, value))
    try:
        return key.read(value)
    except WrongValueError as error:
        raise ConfigError(f"{where}: {name}: {error}", hint=f"{name} takes {key.takes}") from None


def _hint_for(code: str, name: str, value: Any) -> str:
    if isinstance(value, dict):
        return f'a code with a dot in it is written in quotes: [sources."{code}.{name}"]'
    return "the keys are " + ", ".join(KEYS)


# ── what is odd about a source that can be read: it would crawl less than its file seems to say ──


BUILT_IN_PLUGINS = ("page", "product", "media")
PLUGIN_GROUP = "vitrine.plugins"


@frozen
class Oddity:
    """Something that its author can hardly have meant."""

    key: str  # of the source
    message: str


def known_plugins() -> set[str]:
    """The names of the plugins that come along or are installed; none is loaded for that."""
    return {*BUILT_IN_PLUGINS, *entry_points(group=PLUGIN_GROUP).names}


def oddities(source: Source, plugins: Collection[str]) -> tuple[Oddity, ...]:
    """What is odd, key by key."""
    return (*_lost_starts(source), *_shadowed_rules(source), *_unknown_plugins(source, plugins))


def told(ruling: Ruling) -> str:
    """The rule that decided about a URL, in words."""
    if ruling.by == "url":
        return ruling.rule
    if ruling.by == "allowed_domains":
        return f"{ruling.rule} is {'not ' if ruling.reason else ''}one of allowed_domains"
    if not ruling.rule:
        return "no rule of allow speaks of it"
    return f"{ruling.by} has {ruling.rule!r}"


def _lost_starts(source: Source) -> Iterator[Oddity]:
    for url in source.start_urls:
        ruling = source.scope.ruling(url)
        if ruling.reason:
            yield Oddity("start_urls", f"{url} is out of the source's own scope: {told(ruling)}")


def _shadowed_rules(source: Source) -> Iterator[Oddity]:
    for rule in source.allow:
        denied = list(starmap(source.scope.deny.first, examples_of(rule)))
        if all(denied):
            yield Oddity("allow", f"{rule!r} allows nothing: deny has {denied[0]!r}, and wins")


def _unknown_plugins(source: Source, plugins: Collection[str]) -> Iterator[Oddity]:
    for name in source.plugins:
        if name not in plugins:
            yield Oddity("plugins", f"there is no plugin {name!r}; known are {', '.join(sorted(plugins))}")
