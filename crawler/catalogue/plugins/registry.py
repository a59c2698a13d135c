"""Which plugins there are: the built-in ones, then those that installed packages declare."""

from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from crawler.catalogue.plugins.built_in import BUILT_IN
from crawler.catalogue.plugins.json_values import speakable
from crawler.catalogue.plugins.running import said
from crawler.errors import ConfigError
from crawler.logs import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.catalogue.plugins.page import PluginPage
    from crawler.catalogue.plugins.port import AssetPlugin
    from crawler.catalogue.plugins.record import AssetRecord

GROUP = "vitrine.plugins"
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
            log.warning("plugins.not_listed", group=GROUP, error=said(error))
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
        chosen: Iterable[Any] = entry_points.select(group=GROUP)
    else:
        chosen = entry_points.get(GROUP, [])
    return chosen


def _registered(plugin: Any) -> _Registered:
    name = getattr(plugin, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadPluginError(
            "its name is not a letter and up to 63 letters, digits, dots, dashes or underscores"
        )
    supports, assets = getattr(plugin, "supports", None), getattr(plugin, "assets", None)
    if not callable(supports) or not callable(assets):
        raise BadPluginError(f"{name} has no supports() or no assets()")
    return _Registered(speakable(name), supports, assets)
