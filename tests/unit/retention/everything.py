"""A row of every table and a file of every kind that names a domain, and for each a word that only it has."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from attrs import frozen
from sqlalchemy import select

from crawler.archive import groups, similar, word_index
from crawler.clock import utc_now
from crawler.db.models import (
    Artifact,
    Asset,
    AssetSighting,
    AssetVersion,
    Base,
    CrawlException,
    CrawlLog,
    CrawlSession,
    Diagnostic,
    DomainDay,
    DomainGate,
    Haul,
    HaulMember,
    Hold,
    Listing,
    Page,
    PageGroup,
    Price,
    Record,
    RegisteredSource,
    Run,
    RunDenial,
    RunDomain,
    RunWorker,
    ScrapeRecord,
    Snapshot,
    SnapshotChange,
    Task,
    Text,
    WarcFile,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.db.engine import Database
    from crawler.evidence.folder_store import FolderStore


@frozen
class Word:
    """A domain, and a word that stands in everything of it."""

    domain: str
    canary: str

    def url(self, path: str = "") -> str:
        """A page of it."""
        return f"https://{self.domain}/{self.canary}/{path}"


def a_session(word: Word, run_id: int | None = None) -> CrawlSession:
    """A visit that ended."""
    now = utc_now()
    return CrawlSession(
        id=uuid4(), kind="run" if run_id else "page", run_id=run_id, url=word.url(), domain=word.domain,
        mode="standard", retention_policy="standard", status="completed", crawl_policy_version="v1.2",
        config_snapshot={}, pdp_url=word.url("p"), created_at=now, started_at=now, finished_at=now,
    )  # fmt: skip


def a_page(word: Word, session_id: UUID, listing_id: UUID | None = None, path: str = "p") -> Page:
    """What came of a page."""
    return Page(
        id=uuid4(), session_id=session_id, epoch=1, page_type="pdp", viewport="desktop", status="ok",
        url=word.url(path), http_status=200, low_confidence_reasons=[], load_timings={},
        facts={"name": word.canary}, listing_id=listing_id, created_at=utc_now(),
    )  # fmt: skip


def rows_of_session(word: Word, run_id: int | None = None) -> tuple[CrawlSession, list[Base], Page]:
    """A visit with all that hangs on it, and its page."""
    now, session, listing_id = utc_now(), a_session(word, run_id), uuid4()
    page = a_page(word, session.id, listing_id)
    listing = Listing(
        id=listing_id, domain=word.domain, url=word.url(str(listing_id)), url_sha256=str(listing_id),
        name=word.canary, first_seen_at=now, last_seen_at=now, last_session_id=session.id,
    )  # fmt: skip
    rows: list[Base] = [
        listing, session, page,
        CrawlLog(session_id=session.id, timestamp=now, level="info", event_type="fetch", message=word.url(),
                 details={}),
        Diagnostic(timestamp=now, session_id=session.id, page_id=page.id, url=word.url(), policy="v1.2",
                   is_pdp=True, quality=90, traces={"name": word.canary}),
        Price(listing_id=listing_id, currency="EUR", price=Decimal(1), seen_at=now, url=word.url("p"),
              session_id=session.id),
        record(word, "session", str(session.id)),
    ]  # fmt: skip
    file_id = uuid4().int >> 66
    rows += [
        WarcFile(
            id=file_id, folder="/nowhere", path=f"{word.canary}-{file_id}.warc.gz", session_id=session.id,
            state="sealed", created_at=now,
        ),
        Record(warc_file_id=file_id, offset=0, length=1, url=word.url("p"), url_key=f"{word.domain})/"),
    ]  # fmt: skip
    return session, rows, page


def add_in_order(db: Session, rows: list[Base]) -> None:
    """Write rows, each after those that it refers to."""
    for row in rows:
        db.add(row)
        db.flush()


def record(word: Word, kind: str, subject: str) -> ScrapeRecord:
    """Something of it ended."""
    return ScrapeRecord(
        timestamp=utc_now(), kind=kind, subject_id=subject, domain=word.domain, url=word.url(),
        status="completed", details={"about": word.canary},
    )  # fmt: skip


def files_of(word: Word, blobs: FolderStore, session: CrawlSession, page: Page) -> Iterator[Artifact]:
    """A file of each type, and its row."""
    for kind in ("html_gz", "visible_text", "features_json", "session_logs_jsonl", "media"):
        uri = f"{word.domain}__{session.id}/{kind}"
        blobs.publish(uri, f"{word.canary} {kind}".encode())
        yield Artifact(
            session_id=session.id, page_id=page.id, type=kind, storage_uri=uri, size_bytes=10, checksum="0",
            content_sha256="0", created_at=utc_now(),
            retention_until=utc_now() if kind == "html_gz" else None,
        )  # fmt: skip


def add_snapshot(db: Session, word: Word, artifact: Artifact, page: Page) -> None:
    """A page that can be found: its record, its text with the words of it, its group, its source."""
    source = db.scalars(select(RegisteredSource).where(RegisteredSource.code == word.domain)).one_or_none()
    now = utc_now()
    if source is None:
        source = RegisteredSource(code=word.domain, name=word.domain, created_at=now, updated_at=now)
    mine = Record(artifact_id=artifact.id, url=word.url("p"), url_key=word.url("p"))
    text = Text(text_hash=str(page.id), title=word.canary, body=f"{word.domain} {word.canary}", is_cut=False)
    add_in_order(db, [source, mine, text])
    word_index.add(db, [(text.id, text.title, text.body)])
    similar.add(db, [text.title])
    group = PageGroup(source_id=source.id, group_key=f"{word.url('p')}?{page.id}")
    add_in_order(db, [group])
    snapshot = Snapshot(
        record_id=mine.id, source_id=source.id, page_id=page.id, group_id=group.id, text_id=text.id,
        url=word.url("p"), captured_at=now, status_class=2, title=word.canary, snippet=word.canary,
        language="en", content_hash="0", find_title=word.canary, find_snippet=word.canary,
        find_url=word.url("p"),
    )  # fmt: skip
    add_in_order(db, [snapshot])
    change = SnapshotChange(
        source_id=source.id, group_id=group.id, to_snapshot_id=snapshot.id, to_captured_at=now,
        to_text_id=text.id, change_type="new_page", summary=f"New page: {word.canary}", computed_at=now,
        computed_by="cli",
    )  # fmt: skip
    add_in_order(db, [change])
    groups.write_links(db, {group.id: groups.Links(now, frozenset({-group.id}))})


def a_run(db: Session, source: str, *words: Word) -> int:
    """A run of these domains that ended."""
    plan = {
        "code": source, "name": source, "start_urls": [word.url() for word in words],
        "allowed_domains": [word.domain for word in words],
    }  # fmt: skip
    run = Run(source=source, status="completed", plan=plan, created_at=utc_now(), completed_at=utc_now())
    db.add(run)
    db.flush()
    db.add(record(Word(source, source), "run", str(run.id)))
    return run.id


def add_share_of_run(db: Session, run_id: int, word: Word, page: Page | None) -> None:
    """What a run has of one of its domains: tasks, what it learnt, what is worth a look, assets."""
    now = utc_now()
    tasks = [
        Task(run_id=run_id, domain=word.domain, url=word.url(path), url_sha256=f"{word.domain} {path}",
             next_run_at=now, updated_at=now, created_at=now, status=status, last_error=last_error,
             page_id=page.id if page and status == "finished" else None)
        for path, status, last_error in [
            ("p", "finished", None), ("later", "pending", None), ("bad", "error", word.canary)
        ]
    ]  # fmt: skip
    db.add_all(tasks)
    db.flush()
    db.get_one(Run, run_id).planned += len(tasks)
    db.add_all(record(word, "task", str(task.id)) for task in tasks)
    db.merge(RunWorker(run_id=run_id, owner="gone", alive_until=now))
    db.add_all(
        [
            RunDomain(run_id=run_id, domain=word.domain),
            RunDenial(run_id=run_id, domain=word.domain, pattern=f"/{word.canary}", reason="login",
                      created_at=now),
            an_exception(run_id, word.url("bad"), word.canary),
            an_exception(run_id, f"HTTPS://www.{word.domain.upper()}/", word.canary),
        ]
    )  # fmt: skip
    add_asset(db, run_id, word, page)


def an_exception(run_id: int, url: str, message: str) -> CrawlException:
    """Something that is worth a look."""
    now = utc_now()
    return CrawlException(
        run_id=run_id, stage="fetch", url=url, message=message, key=str(uuid4()), context={}, created_at=now,
        last_at=now,
    )  # fmt: skip


def add_asset(db: Session, run_id: int, word: Word, *pages: Page | None, key: str | None = None) -> Asset:
    """An asset with a version from each page."""
    now: datetime = utc_now()
    asset = Asset(
        source="shops", plugin="page", kind="page", domain=word.domain, key=key or word.url(),
        key_sha256=key or f"{word.domain} {run_id}", url=word.url(), title=word.canary,
        checksum=str(len(pages)), versions=len(pages), first_seen_at=now, last_seen_at=now,
        last_run_id=run_id,
    )  # fmt: skip
    db.add(asset)
    db.flush()
    db.add_all(
        AssetVersion(
            asset_id=asset.id,
            number=number,
            checksum=str(number),
            content={"name": word.canary},
            details={},
            run_id=run_id,
            page_id=page.id if page else None,
            seen_at=now,
        )
        for number, page in enumerate(pages, start=1)
    )
    db.add(AssetSighting(run_id=run_id, asset_id=asset.id, status="new"))
    return asset


def add_neighbours(db: Session, word: Word, session: CrawlSession) -> None:
    """What is kept of a domain beside its sessions and runs."""
    now = utc_now()
    own = [HaulMember(position=1, url=word.url(), session_id=session.id)]
    db.add_all(
        [
            DomainDay(timestamp=now, domain=word.domain, latencies={}),
            DomainGate(domain=word.domain, last_end_at=now, delay_until=now, delay_reason=word.canary),
            Haul(name=f"haul of {word.domain}", source="list.txt", created_at=now, members=own),
            Hold(domain=word.domain, who="legal", why=word.canary, created_at=now, released_at=now),
            Hold(session_id=session.id, who="legal", why=word.canary, created_at=now, until=now),
        ]
    )


@frozen
class Laid:
    """What was laid out."""

    sessions: dict[str, UUID]  # of the visits without a run, by domain
    runs: dict[str, int]  # the runs of one domain each, by domain
    shared_run: int


def lay_out(database: Database, blobs: FolderStore, reports: Path, *words: Word) -> Laid:
    """Everything, for each of the domains; one run and one haul have a share in all of them."""
    reports.mkdir(parents=True, exist_ok=True)
    sessions, runs = {}, {}
    with database.write() as db:
        shared = a_run(db, "shops", *words)
        members = [HaulMember(position=n, url=word.url("x")) for n, word in enumerate(words)]
        db.add(Haul(name="spring", source="list.txt", created_at=utc_now(), members=members))
        for word in words:
            runs[word.domain] = a_run(db, word.domain, word)
            for run_id in (None, runs[word.domain], shared):
                session, rows, page = rows_of_session(word, run_id)
                add_in_order(db, rows)
                files = list(files_of(word, blobs, session, page))
                db.add_all(files)
                db.flush()
                add_snapshot(db, word, files[0], page)
                if run_id:
                    add_share_of_run(db, run_id, word, page)
                else:
                    sessions[word.domain] = session.id
                    add_neighbours(db, word, session)
    for run_id in (shared, *runs.values()):
        text = " ".join(word.url() for word in words if run_id in {shared, runs[word.domain]})
        for name in (f"run-{run_id}.json", f"run-{run_id}.md", f".run-{run_id}.json.77.part"):
            (reports / name).write_text(text, encoding="utf-8")
    return Laid(sessions, runs, shared)


def files_naming(folder: Path, text: str) -> list[str]:
    """The files below a folder that have a text in their name or in what they say."""
    found: list[Any] = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path) for path in found if text in str(path) or text.encode() in path.read_bytes())
