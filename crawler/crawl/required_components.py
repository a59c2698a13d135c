"""Refuses to start a crawl whose settings disable a safety component."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy.settings import BaseSettings

OURS = "crawler"
TABLES = ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "ITEM_PIPELINES", "EXTENSIONS")
ENVIRONMENTS_PROXIES = "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware"


def require_components(settings: BaseSettings) -> None:
    """Raise ConfigError for settings that leave out a component, bypass it, or have the wrong type.

    Settings that switch something off by name are accepted (ROBOTSTXT_OBEY=False; logged at the start).
    """
    _require_kinds(settings)
    _require_tables(settings)
    _require_bounds(settings)
    _require_fresh_answers(settings)


def _require_kinds(settings: BaseSettings) -> None:
    """Numbers are numbers: Scrapy would find out in a traceback, some of them in the middle of a crawl."""
    for name, default in _defaults():
        getter = _GETTERS.get(type(default))
        if getter is None or settings.get(name) is None:
            continue
        try:
            getter[0](settings, name)
        except (TypeError, ValueError):
            raise ConfigError(
                f"{name} is {str(settings.get(name))!r}; it takes {getter[1]}",
                hint="it is one of Scrapy's settings",
            ) from None


_GETTERS: dict[type, tuple[Callable[[BaseSettings, str], Any], str]] = {
    bool: (lambda settings, name: settings.getbool(name), "True or False"),
    int: (lambda settings, name: settings.getfloat(name), "a number"),
    float: (lambda settings, name: settings.getfloat(name), "a number"),
}
# Scrapy has a number as their default, and takes other things.
_OTHER_KINDS = {"DOWNLOAD_DELAY_JITTER", "LOG_COLOR", "TELNETCONSOLE_ENABLED"}


def _defaults() -> Iterator[tuple[str, Any]]:
    for name in dir(default_settings):
        if name.isupper() and name not in _OTHER_KINDS:
            yield name, getattr(default_settings, name)


def _require_tables(settings: BaseSettings) -> None:
    for table in TABLES:
        enabled = [_loaded(table, key) for key in settings.get_component_priority_dict_with_base(table)]
        for path in _ours(settings, table):
            if not any(_is_or_extends(component, path) for component in enabled):
                name = path.rpartition(".")[2]
                raise ConfigError(
                    f"{table} leaves out {name}, without which a crawl is not what it promises to be",
                    hint=f'take {{"{path}": None}} out of {table}; what else is in there stands beside it',
                )


def _loaded(table: str, key: Any) -> Any:
    try:
        return load_object(key)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{table} names {key}, which cannot be loaded: {error}",
            hint="the name is that of the module and the class, like myproject.middlewares.Mine",
        ) from error


def _ours(settings: BaseSettings, table: str) -> Iterator[str]:
    base: dict[str, Any] = settings[f"{table}_BASE"] or {}
    for path in base:
        if path.partition(".")[0] == OURS:
            yield path


def _is_or_extends(component: Any, path: str) -> bool:
    return isinstance(component, type) and any(
        f"{kind.__module__}.{kind.__qualname__}" == path for kind in component.__mro__
    )


def _require_bounds(settings: BaseSettings) -> None:
    """No way out that passes by the guard on addresses."""
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        if not _is_of_this_package(handlers.get(scheme)):
            raise ConfigError(
                f"DOWNLOAD_HANDLERS has {scheme} answered by {handlers.get(scheme)}, which connects to "
                "private addresses too",
                hint=f"take {scheme} out of DOWNLOAD_HANDLERS; playwright=True renders a page without it",
            )
    if not _is_of_this_package(settings.get("TWISTED_DNS_RESOLVER")):
        raise ConfigError(
            "TWISTED_DNS_RESOLVER is not the one that keeps private addresses out",
            hint="take TWISTED_DNS_RESOLVER out of the spider's settings",
        )
    enabled = settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    if any(_is_or_extends(load_object(key), ENVIRONMENTS_PROXIES) for key in enabled if not _is_ours(key)):
        raise ConfigError(
            "DOWNLOADER_MIDDLEWARES has a proxy that looks names up where no guard is",
            hint="take HttpProxyMiddleware out of it, and set PROXY_URL",
        )


def _is_ours(key: Any) -> bool:
    return str(getattr(load_object(key), "__module__", "")).partition(".")[0] == OURS


def _is_of_this_package(handler: Any) -> bool:
    """Whether a class is one of ours, or extends one."""
    kind = load_object(handler) if handler else None
    return isinstance(kind, type) and any(each.__module__.partition(".")[0] == OURS for each in kind.__mro__)


def _require_fresh_answers(settings: BaseSettings) -> None:
    """A spider that keeps its pages itself would keep an answer out of a cache as one of today."""
    if settings.getbool("HTTPCACHE_ENABLED") and not settings.getbool("CAPTURE_PAGES"):
        raise ConfigError(
            "HTTPCACHE_ENABLED answers with pages of another day, and evidence has the date of its capture",
            hint="HTTPCACHE_ENABLED=False; `scrapy crawl saved-pages` works on pages that are there already",
        )
