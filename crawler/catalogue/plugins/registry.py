"""Which plugins there are: the built-in ones, then those that installed packages declare."""

from __future__ import annotations

import logging
import re
import traceback
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from crawler.catalogue.plugins.api import AssetRecord, BadValueError, PluginFailure, checked
from crawler.catalogue.plugins.built_in import BUILT_IN
from crawler.errors import ConfigError
from crawler.logs import get_logger
from crawler.runs.sources import PLUGIN_GROUP
from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.catalogue.plugins.api import AssetPlugin, PluginPage


_NAME = re.compile(r"[A-Za-z][\w.-]{0,63}", re.ASCII)

log = get_logger(__name__)


class BadPluginError(TypeError):
    """That is no plugin."""


@frozen
class _Registered:
    """A plugin under the name that it had when it was registered; looking that up runs no foreign code."""

    name: str
    supports: Callable[[PluginPage], bool] = field(repr=False)
    assets: Callable[[PluginPage], Iterable[AssetRecord]] = field(repr=False)


def installed(names: Iterable[str]) -> list[AssetPlugin]:
    """The plugins of these names, of those that come along and those of installed packages."""
    registry = PluginRegistry()
    registry.load_entrypoints()
    return registry.pick(names)


class PluginRegistry:
    """The plugins by name; of two with one name the first stays, and the built-in ones are first."""

    def __init__(self) -> None:
        self._plugins: dict[str, AssetPlugin] = {}
        for plugin in BUILT_IN:
            self.register(plugin)

    @property
    def names(self) -> tuple[str, ...]:
        """What there is."""
        return tuple(self._plugins)

    def register(self, plugin: AssetPlugin) -> bool:
        """Add a plugin; False if there is one of that name."""
        registered = _registered(plugin)
        return self._plugins.setdefault(registered.name, registered) is registered

    def load_entrypoints(self, entry_points: Callable[[], Any] = metadata.entry_points) -> None:
        """Add what installed packages declare (SPEC D90-93); what cannot be loaded is skipped and logged."""
        try:
            declared = list(_of_group(entry_points()))
        except Exception as error:  # ruff: ignore[blind-except] - other people's metadata
            log.warning("plugins.not_listed", group=PLUGIN_GROUP, error=said(error))
            return
        for entry_point in declared:
            self._load(entry_point)

    def pick(self, names: Iterable[str]) -> list[AssetPlugin]:
        """The plugins of these names, each once."""
        wanted = list(dict.fromkeys(names))
        unknown = [name for name in wanted if name not in self._plugins]
        if unknown:
            raise ConfigError(
                f"there is no plugin {', '.join(map(repr, unknown))}",
                hint=f"there are: {', '.join(self.names)}; the log says which could not be loaded",
            )
        return [self._plugins[name] for name in wanted]

    def _load(self, entry_point: Any) -> None:
        declared = getattr(entry_point, "name", None)
        try:
            loaded = entry_point.load()
            plugin = loaded() if isinstance(loaded, type) else loaded
            is_new = self.register(plugin)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # ruff: ignore[blind-except] - sys.exit() at import ends no crawl
            log.warning("plugin.skipped", entry_point=declared, error=said(error))
        else:
            log.debug("plugin.loaded" if is_new else "plugin.known_already", entry_point=declared)


def _of_group(entry_points: Any) -> Iterable[Any]:
    """The group, as Python gives it since 3.10, or out of a dict, as it did before."""
    if hasattr(entry_points, "select"):
        chosen: Iterable[Any] = entry_points.select(group=PLUGIN_GROUP)
    else:
        chosen = entry_points.get(PLUGIN_GROUP, [])
    return chosen


def _registered(plugin: Any) -> _Registered:
    name = getattr(plugin, "name", None)
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise BadPluginError(
            "its name is not a letter and up to 63 letters, digits, dots, dashes or underscores"
        )
    supports, assets = getattr(plugin, "supports", None), getattr(plugin, "assets", None)
    if not callable(supports) or not callable(assets):
        raise BadPluginError(f"{name} has no supports() or no assets()")
    return _Registered(match[0], supports, assets)


# ── has plugins look at a page; what one of them does wrong costs its own assets of that page, and no more ──


MAX_RECORDS = 1000  # of one plugin, for one page
MAX_MESSAGE_CHARS = 500
MAX_EXAMPLE_CHARS = 200


def run_plugins(
    plugins: Iterable[AssetPlugin], page: PluginPage
) -> tuple[list[tuple[str, AssetRecord]], list[PluginFailure]]:
    """What each plugin found, by its name, and what went wrong; only an interruption gets out."""
    found: list[tuple[str, AssetRecord]] = []
    failures: list[PluginFailure] = []
    for plugin in plugins:
        try:
            offered = _offered(plugin, page)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # ruff: ignore[blind-except] - sys.exit() in a plugin ends no crawl
            failures.append(_crashed(plugin.name, page, error))
        else:
            failures += _keep(plugin.name, offered, found)
    return found, failures


def said(error: BaseException) -> str:
    """An exception in a line, even one that cannot say what it is."""
    try:
        words = str(error)
    except Exception:  # ruff: ignore[blind-except] - it is a stranger's
        words = "(it cannot be shown)"
    return f"{type(error).__name__}: {words}"[:MAX_MESSAGE_CHARS]


def _offered(plugin: AssetPlugin, page: PluginPage) -> list[object]:
    """What a plugin offers, one more than is taken where it does not come to an end."""
    if not plugin.supports(page):
        return []
    offers = iter(plugin.assets(page))
    try:
        return list(islice(offers, MAX_RECORDS + 1))
    finally:
        if close := getattr(offers, "close", None):
            close()


def _crashed(name: str, page: PluginPage, error: BaseException) -> PluginFailure:
    [frame] = traceback.extract_tb(error.__traceback__, limit=-1)  # the line that raised it
    file = "/".join(Path(frame.filename).parts[-2:])
    trace = "".join(traceback.format_exception(error))
    failure = PluginFailure(name, said(error), {"at": f"{file}:{frame.lineno} in {frame.name}"}, trace)
    log.warning(
        "plugin.failed", plugin=name, url=page.url, error=failure.message, **failure.context,
        exc_info=error if log.isEnabledFor(logging.DEBUG) else None,
    )  # fmt: skip
    return failure


def _keep(name: str, offered: list[object], found: list[tuple[str, AssetRecord]]) -> list[PluginFailure]:
    """Add what can be kept; what is wrong with the others is said once for each way to be wrong."""
    wrong: dict[str, list[object]] = {}
    for offer in offered[:MAX_RECORDS]:
        try:
            found.append((name, checked(offer)))
        except Exception as error:  # ruff: ignore[blind-except] - its values are a stranger's as well
            message = str(error) if isinstance(error, BadValueError) else said(error)
            wrong.setdefault(message, []).append(offer)
    if len(offered) > MAX_RECORDS:
        wrong[f"more than {MAX_RECORDS} records for one page; the first {MAX_RECORDS} were taken"] = []
    return [_refused(name, message, offers) for message, offers in wrong.items()]


def _refused(name: str, message: str, offers: list[object]) -> PluginFailure:
    context: dict[str, Any] = {"records": len(offers)} if offers else {}
    keys = [offer.key for offer in offers if isinstance(offer, AssetRecord) and isinstance(offer.key, str)]
    if keys:
        context["first"] = redacted(repr(keys[0][:MAX_EXAMPLE_CHARS]))
    log.warning("plugin.bad_record", plugin=name, error=message, **context)
    return PluginFailure(name, message, context)
