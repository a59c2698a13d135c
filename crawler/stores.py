"""What outlasts a process, opened together for crawls and commands alike, and who writes along in it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from crawler import __version__, logs
from crawler.access.acquisition import Acquisitions
from crawler.archive.media_records import MediaRecords
from crawler.catalogue.hooks import CatalogueHooks
from crawler.catalogue.run_pages import RunHooks
from crawler.config import S3_SCHEME
from crawler.db.engine import Database
from crawler.db.reserve import keep_reserve
from crawler.db.revisions import require_current
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.moved_home import follow_home
from crawler.evidence.store_mark import mark_store
from crawler.evidence.warc_files import NoRows, WarcRows
from crawler.evidence.warc_shelf import WarcShelf
from crawler.sessions.spool import keep_left, spool_of
from crawler.sessions.store import SessionStore
from crawler.warc.records import About

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.access.gate import Gate
    from crawler.config import Settings
    from crawler.evidence.blobs import BlobStore
    from crawler.sessions.page_rows import Hooks

log = logs.get_logger(__name__)
_NO_LIMIT = 2**62  # a session has one file
# Who writes along in the transactions of pages, sessions and runs, whoever opens the stores.
HOOKS: tuple[Hooks, ...] = (CatalogueHooks(), MediaRecords(), RunHooks())


def open_stores(settings: Settings, hooks: Sequence[Hooks] = HOOKS, *, may_make: bool = True) -> Stores:
    """Connect to a database whose tables are of this version.

    Nothing is written, unless a database may be made or was moved with its home.
    """
    database = Database(settings.database, connections=settings.database_pool_size)
    try:
        require_current(database, may_make=may_make)
        follow_home(database, settings.vitrine_home, may_remember=may_make)
        return Stores(settings, database, hooks)
    except BaseException:
        database.close()
        raise


def open_for_crawl(
    settings: Settings, hooks: Sequence[Hooks] = HOOKS, *, obeys_robots: bool = True
) -> Stores:
    """Open them with the gate and the WARC files, and end the sessions of processes that are gone."""
    stores = open_stores(settings, hooks)
    stores.obeys_robots = obeys_robots
    try:
        stores.equip()
    except BaseException:
        stores.close()
        raise
    return stores


def open_blobs(settings: Settings) -> BlobStore:
    """The store that `ARTIFACTS_DIR` names: a folder, or a bucket."""
    if not settings.artifacts_dir.startswith(S3_SCHEME):
        return FolderStore(settings.artifacts)
    from crawler.evidence.object_store import open_bucket  # ruff: ignore[import-outside-top-level] - slow to load

    return open_bucket(settings.artifacts_dir, settings)


class Stores:
    """Database, artifacts and sessions as one process sees them; whoever fetches also gets a gate."""

    def __init__(self, settings: Settings, database: Database, hooks: Sequence[Hooks]) -> None:
        self.settings = settings
        self.database = database
        self.blobs = open_blobs(settings)
        self.sessions = SessionStore(settings, database, self.blobs, hooks)
        self.gate: Gate  # once it is opened
        self.acquisitions: Acquisitions
        self.writes = self.sessions.writes
        self.obeys_robots = True  # which WARC files say of the crawl
        self.shelf: WarcShelf | None = None  # once it is opened, where traffic is recorded
        self._opened = ExitStack()
        self._opened.callback(database.close)
        self._opened.callback(self.writes.close)

    def equip(self) -> None:
        """Make them fit for a crawl: no command needs locks of domains, nor writes WARC files."""
        mark_store(self.database, self.blobs)
        keep_reserve(self.settings.database)
        self._open_gate()
        self._open_shelf()
        self.take_over()

    def _open_gate(self) -> None:
        self.acquisitions = Acquisitions.open(self.settings, self.database)
        self._opened.callback(self.acquisitions.close)
        self.gate = self.acquisitions.gate
        _say_how_it_runs(self.settings, self.gate)

    def _open_shelf(self) -> None:
        if not self.settings.is_recording:
            return
        settings = self.settings
        self.shelf = self.writes.shelf = WarcShelf(
            settings.warcs, self._about, WarcRows(self.database),
            max_bytes=settings.warc_max_bytes, revisits=settings.warc_revisits,
        )  # fmt: skip
        self._opened.callback(self.shelf.close)

    def open_spool(self) -> WarcShelf:
        """Open, once, where the WARC files of sessions lie until these end."""
        if self.writes.spool is None:
            folder = spool_of(self.settings)
            self.writes.spool = WarcShelf(folder, self._about, NoRows(), max_bytes=_NO_LIMIT)
            self._opened.callback(self.writes.spool.close)
        return self.writes.spool

    @property
    def _about(self) -> About:
        """What a WARC file says of its making."""
        robots = "obey" if self.obeys_robots else "ignore"
        return About(f"Vitrine/{__version__}", self.settings.user_agent, robots, self.settings.contact_url)

    def take_over(self) -> int:
        """End the sessions of processes that are gone, and keep what these had spooled; how many files.

        Both write into the store, so it has to be this database's.
        """
        mark_store(self.database, self.blobs)
        self.sessions.abandon_stale()
        return keep_left(self.writes)

    def close(self) -> None:
        """Let go of the connections, what was opened last first."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _say_how_it_runs(settings: Settings, gate: Gate) -> None:
    if settings.disable_locks:
        log.warning("gate.off", note="DISABLE_LOCKS is set: nothing keeps two visits off one domain")
    elif not gate.shared:
        log.info("gate.local", note="locks do not reach other machines; REDIS_URL makes them")
    if settings.egress_allow:
        log.warning("egress.allowed", hosts=",".join(settings.egress_allow))
