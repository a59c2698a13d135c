"""What happened that somebody would want to be told of: prices, domains, runs, cleanups and jobs."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import frozen
from sqlalchemy import case, func, select

from crawler.capture.failures import CUT_SHORT
from crawler.db.models import (
    AuditEntry,
    CrawlSession,
    DomainDay,
    Job,
    Listing,
    Price,
    RetentionResult,
    Run,
)
from crawler.sessions.outcome import Status
from crawler.views.runs import barred_by, reason_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sqlalchemy.orm import Session

ACTION = "notify"  # in the audit log, where it says up to when was told
MOST = 100  # notices in one document
LONGEST = timedelta(days=7)  # that is looked back
FIRST = timedelta(days=1)
# Pages wait in memory before they are stored, and rows are dated when they were fetched.
SETTLED = timedelta(minutes=2)
# A success rate says something from so many sessions on, and fell when it is half of what it was.
LEAST_SESSIONS = 5
FELL_BELOW = 0.5
WEEK = timedelta(days=7)


@frozen(kw_only=True)
class Notice:
    """One thing that happened; nobody is told of the same `key` twice."""

    key: str
    kind: str
    at: datetime
    subject: str
    text: str
    details: dict[str, Any]


@frozen(kw_only=True)
class NoticeDocument:
    """What is sent: what happened from one moment to another."""

    since: datetime
    until: datetime
    notices: tuple[Notice, ...]
    more: int  # that are not in it


def pending(db: Session, now: datetime) -> tuple[NoticeDocument, dict[str, Any]]:
    """What happened since somebody was last told, and what the audit log keeps once it was told."""
    query = select(AuditEntry).where(AuditEntry.action == ACTION).order_by(AuditEntry.id.desc()).limit(1)
    last = db.scalars(query).first()
    until = now - SETTLED
    since = now - FIRST if last is None else datetime.fromisoformat(last.details["until"])
    since = min(max(since, now - LONGEST), until)
    told: list[str] = last.details["told"] if last else []
    found = _all(db, since, until, told)
    notices = tuple(islice(found, MOST))
    document = NoticeDocument(since=since, until=until, notices=notices, more=sum(1 for _ in found))
    # Of a day that is not over, the same could be found again.
    today = [
        key for key in (*told, *(notice.key for notice in notices)) if key.endswith(f"/{until:%Y-%m-%d}")
    ]
    return document, {"until": until.isoformat(), "notices": len(notices) + document.more, "told": today}


def _all(db: Session, since: datetime, until: datetime, told: Collection[str]) -> Iterator[Notice]:
    for kind in (
        _failed_jobs, _failed_cleanups, _failed_runs, _barred_domains, _fallen_rates, _moved_prices,
    ):  # fmt: skip
        yield from (notice for notice in kind(db, since, until) if notice.key not in told)


def _failed_jobs(db: Session, since: datetime, until: datetime) -> Iterator[Notice]:
    query = select(Job).where(
        Job.status.in_(("failed", "index_failed")), Job.updated_at > since, Job.updated_at <= until
    )
    for job in db.scalars(query.order_by(Job.id).execution_options(yield_per=MOST)):
        what = "could not be archived" if job.status == "failed" else "could not be indexed"
        yield Notice(
            key=f"job/{job.id}/{job.updated_at.isoformat()}", kind="job_failed", at=job.updated_at,
            subject=f"job {job.id}", text=f"{job.name} {what}: `vitrine jobs show {job.id}`",
            details={"job": job.id, "status": job.status, "exit_code": job.crawler_exit_code},
        )  # fmt: skip


def _failed_cleanups(db: Session, since: datetime, until: datetime) -> Iterator[Notice]:
    query = select(RetentionResult).where(
        RetentionResult.timestamp > since, RetentionResult.timestamp <= until
    )
    for result in db.scalars(query.order_by(RetentionResult.id).execution_options(yield_per=MOST)):
        wrong = {each["collection"]: each["error"] for each in result.details if each.get("error")}
        if wrong:
            yield Notice(
                key=f"cleanup/{result.id}", kind="cleanup_failed", at=result.timestamp, subject="cleanup",
                text=f"a cleanup could not be done for {', '.join(wrong)}: `vitrine cleanup` says why",
                details={"collections": wrong},
            )  # fmt: skip


def _failed_runs(db: Session, since: datetime, until: datetime) -> Iterator[Notice]:
    """Runs that could not go on, and runs that came to their end without a single page."""
    query = select(Run).where(Run.completed_at > since, Run.completed_at <= until, Run.status != "stopped")
    for run in db.scalars(query.order_by(Run.id)):
        causes = barred_by(db, run)
        if run.status == "failed" or causes:
            is_cut_off = run.status == "failed"
            what = (
                f"could not go on: {run.last_error}"
                if is_cut_off
                else f"has no page: {reason_of(db, run.id)}"
            )
            yield Notice(
                key=f"run/{run.id}/{until.isoformat()}", kind="run_failed", at=run.completed_at or until,
                subject=run.source, text=f"run {run.id} of {run.source} {what}: `vitrine runs show {run.id}`",
                details={"run": run.id, "status": run.status, "causes": causes, "error": run.last_error},
            )  # fmt: skip


def _barred_domains(db: Session, since: datetime, until: datetime) -> Iterator[Notice]:
    """Domains of which no visit had anything, but for those of runs, which tell themselves."""
    went_well = func.sum(case((CrawlSession.status != Status.FAILED, 1), else_=0))
    query = (
        select(
            CrawlSession.domain,
            func.count(),
            func.max(CrawlSession.cause),
            func.max(CrawlSession.finished_at),
        )
        .where(CrawlSession.finished_at > since, CrawlSession.finished_at <= until)
        .where(
            CrawlSession.kind == "page",
            CrawlSession.domain > "",
            func.coalesce(CrawlSession.cause, "").not_in(CUT_SHORT),
        )
        .group_by(CrawlSession.domain)
        .having(went_well == 0)
        .order_by(CrawlSession.domain)
    )
    for domain, sessions, cause, at in db.execute(query):
        yield Notice(
            key=f"barred/{domain}/{until:%Y-%m-%d}", kind="domain_failed", at=at or until, subject=domain,
            text=f"{domain}: nothing was had by {sessions} session{'s' if sessions > 1 else ''} ({cause}): "
            f"`vitrine sessions list --domain {domain} --status failed`",
            details={"domain": domain, "sessions": sessions, "cause": cause},
        )  # fmt: skip


def _fallen_rates(db: Session, since: datetime, until: datetime) -> Iterator[Notice]:
    """Domains that went much worse on this day, or on that of the last look, than in the week before."""
    for day in dict.fromkeys(_midnight(moment) for moment in (since, until)):
        before = (
            select(
                DomainDay.domain,
                func.sum(DomainDay.sessions).label("sessions"),
                func.sum(DomainDay.successes).label("successes"),
            )
            .where(DomainDay.timestamp >= day - WEEK, DomainDay.timestamp < day)
            .group_by(DomainDay.domain)
            .having(func.sum(DomainDay.sessions) >= LEAST_SESSIONS)
            .subquery()
        )
        query = (
            select(DomainDay, before.c.sessions, before.c.successes)
            .join(before, before.c.domain == DomainDay.domain)
            .where(DomainDay.timestamp == day, DomainDay.sessions >= LEAST_SESSIONS)
            .order_by(DomainDay.domain)
        )
        for today, sessions, successes in db.execute(query):
            rate, was = today.successes / today.sessions, float(successes) / float(sessions)
            if rate < was * FELL_BELOW:
                yield _fallen(today, rate, was)


def _fallen(today: DomainDay, rate: float, was: float) -> Notice:
    domain, sessions, day = today.domain, today.sessions, today.timestamp
    return Notice(
        key=f"rate/{domain}/{day:%Y-%m-%d}", kind="success_fell", at=day, subject=domain,
        text=f"{domain}: {rate:.0%} of {sessions} sessions went well, {was:.0%} in the week before",
        details={"domain": domain, "sessions": sessions, "rate": rate, "rate_before": was},
    )  # fmt: skip


def _moved_prices(db: Session, since: datetime, until: datetime) -> Iterator[Notice]:
    new = select(Price.listing_id).where(Price.seen_at > since, Price.seen_at <= until)
    before = func.lag(Price.price, type_=Price.price.type).over(
        partition_by=(Price.listing_id, Price.currency), order_by=(Price.seen_at, Price.id)
    )
    history = select(Price.id, before.label("before")).where(Price.listing_id.in_(new)).subquery()
    query = (
        select(Price, Listing, history.c.before)
        .join(history, history.c.id == Price.id)
        .join(Listing, Listing.id == Price.listing_id)
        .where(Price.seen_at > since, Price.seen_at <= until, history.c.before != Price.price)
        .order_by(Price.seen_at, Price.id)
        .execution_options(yield_per=MOST)
    )
    for price, listing, was in db.execute(query):
        name = listing.name or listing.url
        yield Notice(
            key=f"price/{price.id}", kind="price_moved", at=price.seen_at, subject=listing.domain,
            text=f"{name}: {was} → {price.price} {price.currency}",
            details={
                "listing": listing.id, "url": listing.url, "name": listing.name, "currency": price.currency,
                "price": price.price, "price_before": was,
            },
        )  # fmt: skip


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
