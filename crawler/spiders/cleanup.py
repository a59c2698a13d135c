"""A cleanup for schedulers that run nothing but spiders: scrapyd's, above all."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.utils.asyncio import run_in_thread

from crawler import logs
from crawler.crawl.context import CrawlContext
from crawler.db.reserve import room_to_delete
from crawler.errors import CrawlerError, InternalError, UsageError
from crawler.retention.cleanup import CleanupOrder, Part, clean_up
from crawler.spiders.visiting import refusal
from crawler.stores import open_stores

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy import Request

    from crawler.config import Settings
    from crawler.retention.plan import CleanupResult

KNOWN = ("batch_size", "dry_run", "only", "max_seconds")
CHOICES: Mapping[str, tuple[str, ...]] = {"dry_run": ("0", "1"), "only": tuple(Part)}
MOST = {"batch_size": 100_000, "max_seconds": 86_400}
log = logs.get_logger(__name__)


def order_of(given: Mapping[str, str], settings: Settings) -> CleanupOrder:
    """Take what `-a` gave, or say what is wrong with it; the settings have the defaults."""
    # Scrapyd passes arguments of its own, which begin with an underscore.
    if unknown := sorted(name for name in given if name not in KNOWN and not name.startswith("_")):
        raise UsageError(f"-a {unknown[0]}=… is unknown", hint="it takes " + ", ".join(KNOWN))
    for name, choices in CHOICES.items():
        if given.get(name) and given[name] not in choices:
            raise UsageError(f"-a {name}={given[name]!r} is not one of {', '.join(choices)}")
    seconds = _number(given, "max_seconds")
    dry_run = given.get("dry_run")
    return CleanupOrder(
        batch_size=_number(given, "batch_size") or settings.retention_cleanup_batch_size,
        dry_run=settings.retention_cleanup_dry_run if not dry_run else dry_run == "1",
        only=Part(given["only"]) if given.get("only") else None,
        max_seconds=None if seconds is None else float(seconds),
        who="scrapy crawl cleanup",
    )


class CleanupSpider(Spider):
    """`scrapy crawl cleanup`: what `vitrine cleanup` does; nothing is fetched."""

    name = "cleanup"
    works_in_fleet = True  # whatever FLEET says of the crawls beside it
    custom_settings = {"CAPTURE_PAGES": False}  # ruff: ignore[mutable-class-default] - Scrapy's declaration

    def __init__(self, order: CleanupOrder | None = None, **given: Any) -> None:
        super().__init__(**given)
        self.order = order
        self.given = given

    @classmethod
    def prepared(cls, settings: Settings, given: Mapping[str, str]) -> dict[str, Any]:
        """What the spider is made with; a mistake in it costs one line, before anything starts."""
        return {**given, "order": order_of(given, settings)}

    async def start(self) -> AsyncIterator[Request]:
        """Do one pass; what came of it is the crawl's exit code."""
        context = CrawlContext.of(self.crawler)
        try:
            order = self.order or order_of(self.given, context.settings)
            result = await run_in_thread(_clean_up, context.settings, order)
        except CrawlerError as error:
            raise refusal(context.visits, error) from None
        log.info("cleanup.figures", **figures(result))
        for name, number in figures(result).items():
            self.crawler.stats.set_value(f"vitrine/cleanup/{name}", number)
        context.visits.tell("cleanup_ended", exit_code=result.exit_code)
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request


def figures(result: CleanupResult) -> dict[str, int]:
    """What a pass did, in numbers."""
    names = (
        "candidates", "deleted", "failed", "reclaimed_bytes", "remaining", "unclaimed",
        "collections_processed",
    )  # fmt: skip
    return {name: getattr(result, name) for name in names}


def _clean_up(settings: Settings, order: CleanupOrder) -> CleanupResult:
    try:
        with (
            room_to_delete(settings.database),
            closing(open_stores(settings, may_make=False)) as stores,
        ):
            if not order.dry_run:
                stores.take_over()
            return clean_up(stores.database, stores.blobs, order)
    except CrawlerError:
        raise
    except Exception as error:
        raise InternalError(f"the cleanup failed: {type(error).__name__}: {error}") from error


def _number(given: Mapping[str, str], name: str) -> int | None:
    if not given.get(name):
        return None
    text = given[name]
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MOST[name]):
        raise UsageError(f"-a {name}={text!r} is not a whole number from 1 to {MOST[name]}")
    return int(text)
