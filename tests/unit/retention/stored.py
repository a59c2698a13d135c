"""Stored evidence for tests: a session, its artifacts, and their files."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from attrs import frozen
from sqlalchemy import insert, select, update

from crawler.clock import utc_now
from crawler.db.models import Artifact, CrawlSession, StoreMark
from crawler.evidence import files as evidence_files
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import adopt_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from crawler.db.engine import Database
    from crawler.evidence.blobs import Removal

DAY = timedelta(days=1)
CONTENT = b"<html><title>A chair</title></html>"
PACKED = evidence_files.gzipped(CONTENT)


@frozen
class Evidence:
    """A database with one session, and the folder of its files."""

    database: Database
    root: Path
    session_id: UUID

    @property
    def blobs(self) -> FolderStore:
        """The store on its folder."""
        return FolderStore(self.root)

    def add(self, uri: str, *, file: bool = True, age: timedelta = DAY, **columns: Any) -> UUID:
        """An artifact whose date was `age` ago, and its file."""
        if file:
            self.write(uri)
        return self.add_rows([row(self.session_id, uri, utc_now() - age, **columns)])[0]

    def add_rows(self, rows: Iterable[dict[str, Any]]) -> list[UUID]:
        """Artifacts without their files."""
        rows = list(rows)
        with self.database.write() as db:
            db.execute(insert(Artifact), rows)
        return [entry["id"] for entry in rows]

    def write(self, uri: str) -> Path:
        """A file, without the store's care."""
        path = self.root / uri
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PACKED.data)
        return path

    def rows(self) -> dict[UUID, Artifact]:
        """Every artifact's row as it stands."""
        with self.database.read() as db:
            return {found.id: found for found in db.scalars(select(Artifact))}

    def deleted(self) -> set[UUID]:
        """The artifacts that are marked as deleted."""
        return {key for key, found in self.rows().items() if found.deleted_at}

    def files(self) -> set[str]:
        """The names of all regular files below the root."""
        return {entry.uri for entry in self.blobs.entries()}

    def let_leases_run_out(self) -> None:
        """Ten minutes go by."""
        self._change(Artifact.cleanup_claim.is_not(None), cleanup_claimed_until=utc_now() - DAY)

    def let_pauses_end(self) -> None:
        """A day goes by."""
        self._change(Artifact.cleanup_next.is_not(None), cleanup_next=utc_now() - DAY)

    def change(self, artifact_id: UUID, **columns: Any) -> None:
        """Somebody else writes to a row."""
        self._change(Artifact.id == artifact_id, **columns)

    def _change(self, which: Any, **columns: Any) -> None:
        with self.database.write() as db:
            db.execute(update(Artifact).where(which).values(**columns))


class Meddling(FolderStore):
    """A store that lets somebody else act before each deletion."""

    def __init__(self, evidence: Evidence, meddle: Any) -> None:
        super().__init__(evidence.root)
        self.meddle = meddle

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Removals one by one, each after the meddling."""
        for uri in uris:
            self.meddle(uri)
            yield from super().delete_all([uri])


def interrupting(evidence: Evidence, at: str) -> Meddling:
    """Four files, in a store where Ctrl-C comes when one of them is to be deleted."""
    for number in range(4):
        evidence.add(f"{number}/html.gz")

    def meddle(uri: str) -> None:
        if uri == at:
            raise KeyboardInterrupt

    return Meddling(evidence, meddle)


def new_evidence(database: Database, root: Path) -> Evidence:
    """A session without any artifact."""
    root.mkdir(parents=True, exist_ok=True)
    session = CrawlSession(
        id=uuid4(), url="https://shop.example/", domain="shop.example", mode="standard",
        retention_policy="standard", status="completed", crawl_policy_version="v1.2", config_snapshot={},
        created_at=utc_now(),
    )  # fmt: skip
    with database.write() as db:
        db.add(session)
    adopt_store(database, FolderStore(root))
    with database.write() as db:  # the store was this database's before any file came into it
        db.execute(update(StoreMark).values(created_at=utc_now() - timedelta(days=1000)))
    return Evidence(database, root, session.id)


def row(session_id: UUID, uri: str, until: datetime | None, **columns: Any) -> dict[str, Any]:
    """The columns of an HTML artifact."""
    return {
        "id": uuid4(), "session_id": session_id, "page_id": None, "type": "html_gz", "storage_uri": uri,
        "size_bytes": len(PACKED.data), "checksum": PACKED.checksum, "content_sha256": PACKED.content_sha256,
        "created_at": utc_now(), "retention_until": until, "legal_hold": False, "cleanup_attempts": 0,
        **columns,
    }  # fmt: skip
