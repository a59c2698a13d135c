"""What `-a` may say to the pdp spider, and the sessions that it asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from attrs import evolve, frozen
from scrapy.utils.asyncio import run_in_thread

from crawler import logs
from crawler.capture.failures import Cause, Summary
from crawler.config import shown
from crawler.errors import ConfigError, UsageError
from crawler.rendering.chromium import require_chromium
from crawler.sessions.batches import UrlLine, open_batch, read_url_file, read_urls
from crawler.sessions.journal import Journal
from crawler.sessions.outcome import Outcome, Status
from crawler.sessions.rows import CHOICES, SessionOrder
from crawler.spiders.tour import ALWAYS
from crawler.urls import domain_of, require_http_url, root_of, spelling
from crawler.views.products import find as find_listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from crawler.config import Settings
    from crawler.crawl.visits import Visits
    from crawler.db.engine import Database

    Queued = tuple[UUID, SessionOrder]

EVIDENCE_PACK = "evidence_pack"  # a session that is rendered, and recorded
TARGETS = ("url", "urls", "pdp", "session", "listing")
KNOWN = (*TARGETS, *CHOICES)
# Stands for the URLs to come where a worker's arguments are checked.
_ANY_URL = "https://shop.example/"

log = logs.get_logger(__name__)


@frozen
class PdpArguments:
    """The spider's arguments, checked."""

    targets: tuple[UrlLine, ...] = ()  # from -a url, or from the file
    file: Path | None = None
    pdp: str | None = None
    session: str | None = None
    listings: tuple[str, ...] = ()  # ids, or how they begin, or URLs
    mode: str = "standard"
    retention: str = "standard"
    render: str = "0"  # 1: in a browser; auto: where plain pages say nothing
    policy: str | None = None  # None: CRAWL_POLICY_VERSION
    warc: bool = False  # each session keeps what was sent as well, in one file

    @property
    def may_record(self) -> bool:
        """Whether a session may want a WARC: one that is to be made, or one that was asked for before."""
        return self.warc or self.session is not None or self.file is not None

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Self:
        """Take what `-a` gave, or say what is wrong with it."""
        given = with_start(given, "url", "start_url")
        _check_names(given)
        _check_choices(given)
        file = Path(given["urls"]).resolve() if given.get("urls") else None
        pdp = require_http_url(given["pdp"]) if given.get("pdp") else None
        is_pack = given.get("mode") == EVIDENCE_PACK
        named = given.get("url", "").strip() or (root_of(pdp) if pdp else "")
        return cls(
            targets=tuple(read_url_file(file) if file else _targets(named)),
            file=file,
            pdp=spelling(pdp) if pdp else None,
            session=given.get("session") or None,
            listings=tuple(given.get("listing", "").split()),
            mode=given.get("mode", "standard"),
            retention=given.get("retention", "standard"),
            render=ALWAYS if is_pack else given.get("render") or "0",
            policy=given.get("policy") or None,
            warc=is_pack or given.get("warc") == "1",
        )

    def order(self, line: UrlLine, policy: str) -> SessionOrder:
        """What a session for one URL is asked to do; by `policy` where the arguments name none."""
        return SessionOrder(
            url=line.url,
            domain="" if line.error else domain_of(line.url),
            mode=self.mode,
            retention_policy=self.retention,
            crawl_policy_version=self.policy or policy,
            render=self.render,
            warc=self.warc,
            wanted_pdp_url=self.pdp,
            given_url=line.given if line.given != line.url else None,
        )


def with_start(given: Mapping[str, str], name: str, other: str) -> Mapping[str, str]:
    """Return the arguments with the start URL under `name`; `url` and `start_url` mean the same."""
    if not given.get(other, "").strip():
        return {key: value for key, value in given.items() if key != other}
    if given.get(name, "").strip():
        raise UsageError(f"-a {name}=… and -a {other}=… mean the same", hint="give one of them")
    return {name if key == other else key: value for key, value in given.items() if key != name}


def _targets(text: str) -> list[UrlLine]:
    """One URL or several with spaces between; of several some may be wrong, but not all."""
    targets = read_urls(text.split())
    if targets and all(target.error for target in targets):
        require_http_url(text)  # says what is wrong with it
    return targets


def _check_names(given: Mapping[str, str]) -> None:
    # Scrapyd passes arguments of its own, which begin with an underscore.
    unknown = sorted(name for name in given if name not in KNOWN and not name.startswith("_"))
    if unknown:
        raise UsageError(f"-a {unknown[0]}=… is unknown", hint="it takes " + ", ".join(KNOWN))
    targets = [name for name in TARGETS if given.get(name, "").strip()]
    if not targets:
        raise UsageError("there is nothing to crawl", hint="give -a url=https://… or -a urls=FILE")
    if len(targets) > 1 and targets != ["url", "pdp"]:
        raise UsageError(f"-a {targets[0]}=… and -a {targets[1]}=… exclude each other")


def _check_choices(given: Mapping[str, str]) -> None:
    for name, takes in CHOICES.items():
        if given.get(name) and given[name] not in takes:
            raise UsageError(f"-a {name}={given[name]} is unknown", hint=f"{name} takes " + ", ".join(takes))


# ── from arguments to queued sessions ──


@frozen
class QueuedSessions:
    """The sessions that a crawl is to run, in order."""

    sessions: Sequence[Queued]
    batch_id: int | None = None  # of the URL file that they come from


async def queue(visits: Visits, arguments: PdpArguments) -> QueuedSessions:
    """Queue the sessions that the arguments ask for, or take up those that were left over."""
    if arguments.render == ALWAYS:
        require_chromium(visits.settings.chromium_path)
    stores = await visits.open()
    if arguments.session:
        session_id, order = await run_in_thread(stores.sessions.requeue, arguments.session)
        _tell_queued(visits, [session_id])
        return QueuedSessions([(session_id, order)])
    if arguments.file:
        return await _queue_file(visits, arguments)
    lines = arguments.targets
    if arguments.listings:
        urls = await run_in_thread(_listing_urls, stores.database, arguments.listings)
        lines = tuple(UrlLine(number, url, None) for number, url in enumerate(urls, start=1))
    return QueuedSessions(await _queue_lines(visits, arguments, lines))


async def _queue_file(visits: Visits, arguments: PdpArguments) -> QueuedSessions:
    stores = await visits.open()
    batch = await run_in_thread(open_batch, stores.sessions, str(arguments.file))
    fresh = [line for line in arguments.targets if line.url not in batch.urls]
    if batch.left:
        _tell_queued(visits, [session_id for session_id, _ in batch.left])
        log.info("urls.resumed", file=str(arguments.file), left=len(batch.left), new=len(fresh))
    given = {line.url: line.given for line in arguments.targets if line.given != line.url}
    left = [(session_id, evolve(order, given_url=given.get(order.url))) for session_id, order in batch.left]
    return QueuedSessions([*left, *await _queue_lines(visits, arguments, fresh, batch.id)], batch.id)


async def _queue_lines(
    visits: Visits, arguments: PdpArguments, lines: Sequence[UrlLine], batch_id: int | None = None
) -> Sequence[Queued]:
    """Write sessions as queued, with the settings that they will run under; refuse those without a URL."""
    policy = visits.settings.crawl_policy_version
    orders = [evolve(arguments.order(line, policy), batch_id=batch_id) for line in lines]
    if arguments.listings:  # known products: each one's site first, then its page
        orders = [evolve(order, url=root_of(order.url), wanted_pdp_url=order.url) for order in orders]
    ids = await run_in_thread(visits.stores.sessions.queue, orders, shown(visits.settings))
    _tell_queued(visits, ids)
    queued = list(zip(ids, orders, lines, strict=True))
    for session_id, order, line in queued:
        if line.error:
            log.error("urls.bad_line", line=line.number, error=line.error)
            journal = Journal(str(session_id), order.domain)
            journal.error("error", "session.refused", cause=Cause.BAD_URL, line=line.number, error=line.error)
            refused = Outcome(Status.FAILED, Summary.CRAWL_FAILED, Cause.BAD_URL)
            await visits.refuse(order, journal, refused)
    return [(session_id, order) for session_id, order, line in queued if not line.error]


def _tell_queued(visits: Visits, ids: Sequence[UUID]) -> None:
    visits.tell("queued", sessions=[str(session_id) for session_id in ids])


def _listing_urls(database: Database, words: Sequence[str]) -> list[str]:
    """Where the products are that were named."""
    with database.read() as db:
        return [find_listing(db, word).url for word in words]


def check_worker(settings: Settings, given: Mapping[str, str]) -> None:
    """Say what keeps a worker of a fleet from working: it needs a Redis, and no URLs of its own."""
    if not settings.redis_url:
        raise ConfigError(
            "FLEET needs REDIS_URL: through it the fleet is fed, and through it domains are locked",
            hint="set REDIS_URL=redis://HOST:PORT/0, the same on all machines",
        )
    target = next((name for name in TARGETS if given.get(name)), None)
    if target:
        raise UsageError(
            f"FLEET and -a {target}=… exclude each other",
            hint="feed the fleet with `redis-cli lpush pdp:start_urls URL`, or crawl with -s FLEET=0",
        )
    PdpArguments.parse({**given, "url": _ANY_URL})
