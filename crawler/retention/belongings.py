"""What belongs to a domain or to a session: the tables that a purge takes from, and which of their rows.

A table that keeps anything of a domain has its line in `ROWS`. What has none goes with what has one, by its
foreign key: pages, log lines and traces with their session, what a run knew with the run, versions with their
asset. The audit log alone stays: it says what was done to what, and goes after its own days.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import String, and_, bindparam, cast, delete, exists, false, func, or_, select, update

from crawler.access.local_gate import is_unused
from crawler.archive import unused, word_index
from crawler.db.models import (
    Asset,
    AssetVersion,
    Base,
    CrawlException,
    CrawlSession,
    DomainDay,
    DomainGate,
    Haul,
    HaulMember,
    Hold,
    Job,
    Listing,
    Page,
    PageGroup,
    Price,
    Record,
    RegisteredSource,
    Run,
    RunDenial,
    RunDomain,
    ScrapeRecord,
    Snapshot,
    Task,
    Text,
    WarcFile,
)
from crawler.errors import BadUrlError
from crawler.evidence.archive_folders import correct_entry
from crawler.evidence.blobs import as_store_error
from crawler.runs.rows import ENDED
from crawler.urls import domain_of
from crawler.warc.cdxj import domain_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from uuid import UUID

    from sqlalchemy import ColumnElement, Result, Select
    from sqlalchemy.orm import InstrumentedAttribute

    from crawler.db.engine import Transaction


OTHERS = "others"


@frozen
class Reach:
    """One session, or a domain: its sessions, and everything else of it."""

    session_id: UUID | None
    domain: str | None
    before: datetime  # sessions that begin later are not touched
    with_prices: bool

    @property
    def sessions(self) -> Select[Any]:
        """The ids of the sessions."""
        mine = CrawlSession.domain == self.domain if self.domain else CrawlSession.id == self.session_id
        return select(CrawlSession.id).where(mine, CrawlSession.created_at <= self.before)

    @property
    def pages(self) -> Select[Any]:
        """The ids of the sessions' pages."""
        return select(Page.id).where(Page.session_id.in_(self.sessions))

    @property
    def runs(self) -> ColumnElement[bool]:
        """The runs that had a part in it; one that never had a task is told by its source."""
        visited = select(CrawlSession.run_id).where(
            CrawlSession.id.in_(self.sessions), CrawlSession.run_id.is_not(None)
        )
        if self.domain is None:
            return Run.id.in_(visited)
        had_tasks = select(RunDomain.run_id).where(RunDomain.domain == self.domain)
        return or_(Run.id.in_(visited), Run.id.in_(had_tasks), Run.source == self.domain)


@frozen
class Belonging:
    """A table that has rows of it."""

    table: type[Base]
    which: Callable[[Transaction, Reach], ColumnElement[bool]]
    figure: str = OTHERS  # the name under which its rows are counted; none for what alone is nothing


def _whole_runs(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """The runs that had no other domain; of a session those that ended and had no other visit either."""
    if scope.domain is not None:
        others = exists().where(RunDomain.run_id == Run.id, RunDomain.domain != scope.domain)
        return and_(scope.runs, ~others)
    domains = select(CrawlSession.domain).where(CrawlSession.id.in_(scope.sessions))
    others = exists().where(RunDomain.run_id == Run.id, RunDomain.domain.not_in(domains))
    visits = exists().where(CrawlSession.run_id == Run.id, CrawlSession.id.not_in(scope.sessions))
    return and_(scope.runs, Run.status.in_(ENDED), ~others, ~visits)


def _tasks(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Those of the domain; of a session those that became its pages, or failed as one of them."""
    if scope.domain is not None:
        return Task.domain == scope.domain
    failed = select(Page.url).where(Page.session_id.in_(scope.sessions), Page.status == "failed")
    became = or_(Task.page_id.in_(scope.pages), and_(Task.page_id.is_(None), Task.url.in_(failed)))
    return and_(Task.run_id.in_(select(Run.id).where(scope.runs)), became)


def _exceptions(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """In the runs that had a part in it, those about its tasks, its pages, or a URL of the domain."""
    tasks = select(Task.url).where(_tasks(db, scope))
    pages = select(Page.url).where(Page.session_id.in_(scope.sessions))
    is_of_run = CrawlException.run_id.in_(select(Run.id).where(scope.runs))
    about = or_(CrawlException.url.in_(tasks), CrawlException.url.in_(pages))
    if scope.domain is not None:
        urls = db.execute(select(CrawlException.id, CrawlException.url).where(is_of_run))
        about = or_(about, _any_of(CrawlException.id, urls, scope.domain))
    return and_(is_of_run, about)


def _records(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Of its sessions, its tasks and its runs."""
    tasks = select(cast(Task.id, String)).where(_tasks(db, scope))
    runs = select(cast(Run.id, String)).where(_whole_runs(db, scope))
    mine = (
        and_(ScrapeRecord.kind == "session", ScrapeRecord.subject_id == str(scope.session_id))
        if scope.domain is None
        else and_(ScrapeRecord.kind != "run", ScrapeRecord.domain == scope.domain)
    )
    return or_(
        mine,
        and_(ScrapeRecord.kind == "task", ScrapeRecord.subject_id.in_(tasks)),
        and_(ScrapeRecord.kind == "run", ScrapeRecord.subject_id.in_(runs)),
    )


def _assets(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Those that the domain, or the session's run, saw last, of which no other has a version."""
    if scope.domain is not None:
        elsewhere = exists().where(
            AssetVersion.asset_id == Asset.id, AssetVersion.page_id == Page.id,
            Page.session_id == CrawlSession.id, CrawlSession.domain != scope.domain,
        )  # fmt: skip
        return and_(Asset.domain == scope.domain, ~elsewhere)
    seen = select(AssetVersion.asset_id).where(AssetVersion.page_id.in_(scope.pages))
    elsewhere = exists().where(
        AssetVersion.asset_id == Asset.id,
        or_(AssetVersion.page_id.is_(None), AssetVersion.page_id.not_in(scope.pages)),
    )
    runs = select(CrawlSession.run_id).where(CrawlSession.id.in_(scope.sessions))
    return and_(Asset.id.in_(seen), Asset.last_run_id.in_(runs), ~elsewhere)


def _versions(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Of assets that stay, those that were read from its pages."""
    going = select(Asset.id).where(_assets(db, scope))
    return and_(AssetVersion.page_id.in_(scope.pages), AssetVersion.asset_id.not_in(going))


def _members(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """What the sessions captured, and URLs of the domain."""
    captured = and_(HaulMember.session_id.is_not(None), HaulMember.session_id.in_(scope.sessions))
    if scope.domain is None:
        return captured
    urls = db.execute(select(HaulMember.id, HaulMember.url))
    return or_(captured, _any_of(HaulMember.id, urls, scope.domain))


def _whole_hauls(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    members = _members(db, scope)
    return and_(
        exists().where(HaulMember.haul_id == Haul.id, members),
        ~exists().where(HaulMember.haul_id == Haul.id, ~members),
    )


def _members_of_others(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    return and_(
        _members(db, scope), HaulMember.haul_id.not_in(select(Haul.id).where(_whole_hauls(db, scope)))
    )


def _holds(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Those that are over: one that stands forbids the purge."""
    listings = select(Listing.id).where(_listings(db, scope))
    of_domain = false() if scope.domain is None else Hold.domain == scope.domain
    is_over = or_(Hold.released_at.is_not(None), Hold.until <= db.now)
    about = or_(of_domain, Hold.session_id.in_(scope.sessions), Hold.listing_id.in_(listings))
    return and_(is_over, about)


def _gates(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Not while somebody holds the domain, nor while a delay lasts that the site asked for."""
    return and_(_of(DomainGate.domain)(db, scope), is_unused(db.now))


def _warc_files(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Those of its visits; their records go with them. A session's artifact is a file of the session."""
    return and_(WarcFile.session_id.is_not(None), WarcFile.session_id.in_(scope.sessions))


def _prices(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    if not scope.with_prices:
        return false()
    of_domain = select(Listing.id).where(Listing.domain == scope.domain)
    return or_(Price.session_id.in_(scope.sessions), Price.listing_id.in_(of_domain))


def _listings(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """The domain's; of a session those that nobody else saw."""
    if not scope.with_prices:
        return false()
    if scope.domain is not None:
        return Listing.domain == scope.domain
    seen = select(Page.listing_id).where(Page.session_id.in_(scope.sessions), Page.listing_id.is_not(None))
    return and_(
        Listing.id.in_(seen),
        ~exists().where(Page.listing_id == Listing.id, Page.session_id.not_in(scope.sessions)),
        ~exists().where(Price.listing_id == Listing.id, Price.session_id.not_in(scope.sessions)),
    )


def _snapshots(db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """Of its pages; of a domain also what archives of other origin have of it."""
    of_pages = and_(Snapshot.page_id.is_not(None), Snapshot.page_id.in_(scope.pages))
    captures = select(Record.id).where(archived(db, scope))
    return of_pages if scope.domain is None else or_(of_pages, Snapshot.record_id.in_(captures))


def archived(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """The records of a domain in WARC files that are not its visits' own: those go as whole files."""
    if scope.domain is None:
        return false()
    first, last = domain_keys(scope.domain)
    own = select(WarcFile.id).where(WarcFile.session_id.in_(scope.sessions))
    return and_(
        Record.url_key >= first, Record.url_key < last, Record.warc_file_id.is_not(None),
        Record.warc_file_id.not_in(own),
    )  # fmt: skip


def _all_in_it(
    key: InstrumentedAttribute[int],
    snapshots: InstrumentedAttribute[int | None],
    db: Transaction,
    scope: Reach,
) -> ColumnElement[bool]:
    """What has snapshots, all of which belong to it: no other page says the same, or has the same URL."""
    others = ~_snapshots(db, scope)
    return and_(
        exists().where(snapshots == key, _snapshots(db, scope)), ~exists().where(snapshots == key, others)
    )


def _sources(_db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """What was registered for the domain because it was indexed."""
    if scope.domain is None:
        return false()
    is_wanted = or_(
        exists().where(Job.source_id == RegisteredSource.id),
        exists().where(Snapshot.source_id == RegisteredSource.id),
        exists().where(PageGroup.source_id == RegisteredSource.id),
    )
    return and_(RegisteredSource.code == scope.domain.lower(), ~is_wanted)


def _of_shared_runs(table: type[RunDomain | RunDenial], db: Transaction, scope: Reach) -> ColumnElement[bool]:
    """What runs that stay know of the domain."""
    going = select(Run.id).where(_whole_runs(db, scope))
    return and_(_of(table.domain)(db, scope), table.run_id.not_in(going))


def _of(column: InstrumentedAttribute[str]) -> Callable[[Transaction, Reach], ColumnElement[bool]]:
    """The rows of the domain itself."""
    return lambda _, scope: false() if scope.domain is None else column == scope.domain


def _any_of(key: InstrumentedAttribute[int], urls: Result[int, str], domain: str) -> ColumnElement[bool]:
    """The rows whose URL is of the domain, however it is spelt."""
    ids = [row.id for row in urls if _domain_of(row.url) == domain]
    # They may be more than a statement may have parameters.
    return key.in_(bindparam(None, ids, expanding=True, literal_execute=True))


def _domain_of(url: str) -> str | None:
    try:
        return domain_of(url)
    except BadUrlError:
        return None


# In the order in which they go: what is found by tasks, pages and sessions goes while these are still there.
ROWS: tuple[Belonging, ...] = (
    Belonging(Text, partial(_all_in_it, Text.id, Snapshot.text_id), "texts"),
    Belonging(PageGroup, partial(_all_in_it, PageGroup.id, Snapshot.group_id), ""),
    Belonging(Snapshot, _snapshots, "snapshots"),
    Belonging(Record, archived, "captures"),
    Belonging(RegisteredSource, _sources, ""),
    Belonging(CrawlException, _exceptions, "exceptions"),
    Belonging(ScrapeRecord, _records, "records"),
    Belonging(Asset, _assets, "assets"),
    Belonging(AssetVersion, _versions, "versions"),
    Belonging(Haul, _whole_hauls),
    Belonging(HaulMember, _members_of_others),
    Belonging(Hold, _holds, ""),
    Belonging(WarcFile, _warc_files),
    Belonging(Price, _prices, "prices"),
    Belonging(Listing, _listings, "listings"),
    Belonging(Task, _tasks, "tasks"),
    Belonging(Run, _whole_runs, "runs"),
    Belonging(RunDomain, partial(_of_shared_runs, RunDomain)),
    Belonging(RunDenial, partial(_of_shared_runs, RunDenial)),
    Belonging(DomainDay, _of(DomainDay.domain)),
    Belonging(DomainGate, _gates),
)


def remove(db: Transaction, each: Belonging, scope: Reach) -> int:
    """Delete a table's rows; how many there were. What is left beside them stays true."""
    which = each.which(db, scope)
    if each.table is Task:
        _lower_planned(db, which)
    if each.table is WarcFile:
        # Artifacts were removed from their store before.
        _unlink(db.scalars(select(WarcFile).where(which, WarcFile.artifact_id.is_(None))))
    gone = delete(each.table).where(which)
    if each.table is AssetVersion:
        assets = list(db.connection().scalars(gone.returning(AssetVersion.asset_id)))
        _show_newest_left(db, set(assets))
        return len(assets)
    mend = unused.mending(db, each.table, which)
    rows = db.connection().execute(gone).rowcount
    mend()
    if each.table in {Text, Snapshot} and rows:
        word_index.forget_deleted(db)
    return rows


def _unlink(files: Iterable[WarcFile]) -> None:
    """Remove files under the name that they have, or had while they were written."""
    for file in files:
        for name in (file.path, f"{file.path}.open"):
            try:
                correct_entry(Path(file.folder) / name, None)
                (Path(file.folder) / name).unlink(missing_ok=True)
            except OSError as error:
                raise as_store_error(error, f"{file.folder}/{name}", hint="then purge again") from error


def _lower_planned(db: Transaction, which: ColumnElement[bool]) -> None:
    """A run counts its tasks, and may have a limit to them."""
    gone = select(Task.run_id, func.count()).where(which).group_by(Task.run_id)
    for run_id, number in db.execute(gone).all():
        db.connection().execute(update(Run).where(Run.id == run_id).values(planned=Run.planned - number))


def _show_newest_left(db: Transaction, assets: Iterable[int]) -> None:
    """An asset that others saw too is what they saw of it last, or gets a version when it is seen next."""
    for asset_id in assets:
        newest = db.execute(
            select(AssetVersion.number, AssetVersion.checksum, CrawlSession.domain)
            .outerjoin(Page, Page.id == AssetVersion.page_id)
            .outerjoin(CrawlSession, CrawlSession.id == Page.session_id)
            .where(AssetVersion.asset_id == asset_id)
            .order_by(AssetVersion.number.desc())
            .limit(1)
        ).one_or_none()
        number, checksum, domain = newest or (Asset.versions, "", None)
        values = {"versions": number, "checksum": checksum, "title": None}
        values |= {"domain": domain} if domain else {}
        db.connection().execute(
            update(Asset).where(Asset.id == asset_id, Asset.checksum != checksum).values(**values)
        )


def forget_in_plans(db: Transaction, domain: str) -> None:
    """Take a domain's start URLs and the domain out of what runs that stay were to crawl."""
    mentions = func.lower(cast(Run.plan, String)).contains(domain, autoescape=True)
    shared = select(RunDomain.run_id).where(RunDomain.domain == domain)
    for run in db.scalars(select(Run).where(or_(mentions, Run.id.in_(shared)))):
        starts = [url for url in run.plan.get("start_urls", ()) if _domain_of(url) != domain]
        allowed = [each for each in run.plan.get("allowed_domains", ()) if each.removeprefix("*.") != domain]
        run.plan = {**run.plan, "start_urls": starts, "allowed_domains": allowed}
