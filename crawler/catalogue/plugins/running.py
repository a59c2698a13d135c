"""Has plugins look at a page; what one of them does wrong costs its own assets of that page, and no more."""

from __future__ import annotations

import logging
import traceback
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.catalogue.plugins.json_values import BadValueError
from crawler.catalogue.plugins.port import PluginFailure
from crawler.catalogue.plugins.record import AssetRecord, checked
from crawler.logs import get_logger, redacted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.catalogue.plugins.page import PluginPage
    from crawler.catalogue.plugins.port import AssetPlugin

MAX_RECORDS = 1000  # of one plugin, for one page
MAX_MESSAGE_CHARS = 500
MAX_EXAMPLE_CHARS = 200

log = get_logger(__name__)


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
    failure = PluginFailure(name, said(error), {"at": _place(error)})
    log.warning(
        "plugin.failed", plugin=name, url=page.url, error=failure.message, **failure.context,
        exc_info=error if log.isEnabledFor(logging.DEBUG) else None,
    )  # fmt: skip
    return failure


def _place(error: BaseException) -> str:
    """The line that raised it."""
    [frame] = traceback.extract_tb(error.__traceback__, limit=-1)
    file = "/".join(Path(frame.filename).parts[-2:])
    return f"{file}:{frame.lineno} in {frame.name}"


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
