"""Sources: what a durable run crawls, as `sources.toml` says it, or as one URL does."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from importlib.metadata import entry_points
from importlib.resources import files
from itertools import starmap
from typing import TYPE_CHECKING, Any, Self

from attrs import asdict, field, fields, frozen

from crawler.access.globs import examples_of
from crawler.access.scope import Scope
from crawler.errors import ConfigError, UsageError
from crawler.html.content import Ignored
from crawler.runs.source_keys import (
    DATE,
    DEFAULT_JOB_NAME,
    KEYS,
    PLUGINS,
    VITRINE,
    WrongValueError,
    each_once,
    shown,
)
from crawler.urls import domain_of, require_http_url

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from datetime import datetime
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from crawler.access.scope import Ruling


BUNDLED = files("crawler.runs") / "bundled_sources.toml"
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

    return DATE.sub(filled, source.job_name)


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


def known_sources(path: Path) -> dict[str, Source]:
    """All sources by code in lower case: the operator's, and those that come along and it has not."""
    own = load_sources(path) if path.exists() else {}
    return {code.lower(): source for code, source in {**bundled_sources(), **own}.items()}


def ignored_by_source(path: Path) -> dict[str, Ignored]:
    """What of a source's pages is no part of their texts, by its code: neither compared nor found."""
    return {
        code: Ignored(source.ignore_selectors, source.ignore_text)
        for code, source in known_sources(path).items()
        if source.ignore_selectors or source.ignore_text
    }


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
    engine = said.get("engine", VITRINE)
    for key, other in ((key, KEYS[key].engine) for key in said):
        if other not in {None, engine}:
            hint = f'leave it out, or set engine = "{other}"'
            raise ConfigError(
                f"{where}: {key} is for the engine {other}, and this source has {engine}", hint=hint
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
