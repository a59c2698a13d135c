"""Kept pages, as a crawl leaves them, for tests of what is made of them."""

from __future__ import annotations

import gzip
import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from uuid import uuid4

from crawler.archive import indexing
from crawler.archive.sites import NO_SITES
from crawler.archive.warc_indexing import JobPass
from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession, Job, Page, RegisteredSource

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from uuid import UUID

    from crawler.archive.indexing import IndexResult
    from crawler.archive.sites import Sites
    from crawler.db.engine import Database
    from crawler.evidence.folder_store import FolderStore


def keep(
    database: Database,
    blobs: FolderStore,
    html: str | bytes,
    url: str = "https://shop.example/p",
    *,
    status: int | None = 200,
    at: datetime | None = None,
    domain: str = "shop.example",
) -> UUID:
    """A session with one kept page; the artifact's id."""
    body = html if isinstance(html, bytes) else html.encode("utf-8", "replace")
    now = at or utc_now()
    session = CrawlSession(
        id=uuid4(), kind="page", url=url, domain=domain, mode="standard", retention_policy="standard",
        status="completed", crawl_policy_version="v1.2", config_snapshot={}, created_at=now, finished_at=now,
    )  # fmt: skip
    page = Page(
        id=uuid4(), session_id=session.id, epoch=1, page_type="pdp", viewport="desktop", status="ok", url=url,
        http_status=status, low_confidence_reasons=[], load_timings={}, created_at=now,
    )  # fmt: skip
    packed = gzip.compress(body)
    artifact = Artifact(
        id=uuid4(), session_id=session.id, page_id=page.id, type="html_gz", storage_uri=f"{session.id}/p.gz",
        size_bytes=len(packed), checksum=hashlib.sha256(packed).hexdigest(),
        content_sha256=hashlib.sha256(body).hexdigest(), content_type="text/html", created_at=now,
    )  # fmt: skip
    blobs.publish(artifact.storage_uri, packed)
    with database.write() as db:
        for row in (session, page, artifact):
            db.add(row)
            db.flush()
    return artifact.id


def crawled_job(database: Database, folder: Path) -> JobPass:
    """A job whose crawl is over, with its files in that folder."""
    now = utc_now()
    with database.write() as db:
        source = RegisteredSource(code="shop", name="shop", enabled=True, created_at=now, updated_at=now)
        db.add(source)
        db.flush()
        job = Job(
            source_id=source.id, name="x", output_dir=str(folder), status="completed", created_at=now,
            updated_at=now,
        )  # fmt: skip
        db.add(job)
        db.flush()
        return JobPass(job_id=job.id, source_id=source.id, output_dir=folder)


def index_pages(
    database: Database, blobs: FolderStore, *, again: bool = False, sites: Sites = NO_SITES
) -> IndexResult:
    """Index what is kept; pytest-twisted's loop runs in this thread, so it is done in another."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(indexing.index_pages, database, blobs, again=again, sites=sites).result()
