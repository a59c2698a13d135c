"""Sources: what a durable run crawls, as `sources.toml` says it, or as one URL does."""

from __future__ import annotations

import re
import tomllib
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from attrs import asdict, fields, frozen

from crawler.access.scope import Scope
from crawler.errors import ConfigError, UsageError
from crawler.frontier.source_keys import KEYS, PLUGINS, WrongValueError, each_once, shown
from crawler.urls import domain_of, require_http_url

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
    jitter_seconds: float | None = None  # None: none but that of the crawl's own delay
    max_retries: int | None = None  # attempts at a page in all; None: as TASK_MAX_RETRIES says

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


def load_sources(path: Path) -> dict[str, Source]:
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
    return {code: _source(path, code, table) for code, table in sources.items()}


def find_source(path: Path, code: str) -> Source:
    """The source with a code."""
    sources = load_sources(path)
    if code not in sources:
        listed = ", ".join(list(sources)[:20]) or "none"
        raise UsageError(f"{path} has no source {shown(code)}", hint=f"it has: {listed}")
    return sources[code]


def _tables(path: Path) -> dict[str, Any]:
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


def _source(path: Path, code: str, table: Any) -> Source:
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
    domains = each_once(domain_of(url) for url in said["start_urls"])
    return Source(code=code, **{"name": code, "allowed_domains": domains, **said})


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
