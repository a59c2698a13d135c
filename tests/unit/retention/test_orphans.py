"""Files without a row, rows without a file."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.clock import utc_now
from crawler.db.models import WarcFile
from crawler.evidence import bodies, files
from crawler.evidence.blobs import StoreUnavailableError
from crawler.evidence.bodies import Finding, examine_all
from crawler.evidence.folder_store import FolderStore
from crawler.retention import orphans
from crawler.retention.orphans import OrphanOrder, OrphanReport, find_orphans
from tests.unit.retention.stored import DAY, PACKED, Evidence

if TYPE_CHECKING:
    from uuid import UUID

pytestmark = pytest.mark.usefixtures("small_groups")
LIVE = -DAY  # its date is tomorrow
SIZE = len(PACKED.data)


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few files and rows make several groups."""
    monkeypatch.setattr(orphans, "GROUP_ROWS", 2)


def write_old(evidence: Evidence, uri: str, hours: float = 100) -> None:
    """A file that was written a while ago."""
    then = time.time() - hours * 3600
    os.utime(evidence.write(uri), (then, then))


def scan(evidence: Evidence, *, delete_files: bool = False, mark_rows: bool = False) -> OrphanReport:
    """One scan."""
    order = OrphanOrder(delete_files=delete_files, mark_rows=mark_rows)
    return find_orphans(evidence.database, evidence.blobs, order)


def found(report: OrphanReport) -> tuple[set[str], set[UUID]]:
    """The names of the files, and the ids of the rows."""
    return {entry.uri for entry in report.files}, {row.id for row in report.rows}


def test_row_without_file_is_found(evidence: Evidence) -> None:
    """A live row is reported; one that a cleaner is at, or that is deleted, is none."""
    lost = evidence.add("lost.gz", file=False, age=LIVE)
    evidence.add("fine.gz", age=LIVE)
    evidence.add("gone.gz", file=False, deleted_at=utc_now())
    evidence.add(
        "going.gz", file=False, cleanup_claim="x", cleanup_claimed_until=utc_now() + timedelta(minutes=1)
    )
    report = scan(evidence)
    assert found(report) == (set(), {lost})
    assert report.rows_seen == 2
    assert evidence.rows()[lost].deleted_at is None


def test_lost_rows_are_marked_when_asked(evidence: Evidence) -> None:
    """Not those on hold, and not those whose path may not be looked at."""
    lost = {evidence.add(f"lost-{number}.gz", file=False, age=LIVE) for number in range(3)}
    held = evidence.add("held.gz", file=False, age=LIVE, legal_hold=True)
    (evidence.root / "link").symlink_to(evidence.root.parent)
    unsafe = evidence.add("link/x.gz", file=False, age=LIVE)
    evidence.add("fine.gz", age=LIVE)
    report = scan(evidence, mark_rows=True)
    assert found(report) == (set(), {*lost, held, unsafe})
    assert {row.id for row in report.rows if row.unsafe_path} == {unsafe}
    assert report.marked == 3
    assert evidence.deleted() == lost


def test_a_lost_warc_is_marked_with_its_artifact(evidence: Evidence) -> None:
    """So that it is not listed as there."""
    lost = evidence.add("session.warc.gz", file=False, type="warc", age=LIVE)
    evidence.add("fine.gz", age=LIVE)
    with evidence.database.write() as db:
        db.add(
            WarcFile(folder="/a", path="session.warc.gz", artifact_id=lost, state="sealed", created_at=db.now)
        )
    assert scan(evidence, mark_rows=True).marked == 1
    with evidence.database.read() as db:
        assert db.scalars(select(WarcFile.state)).one() == "gone"


def test_empty_store_marks_nothing(evidence: Evidence) -> None:
    """A volume that is not mounted looks empty: no row is given up for it."""
    evidence.add("a.gz", file=False, age=LIVE)
    with pytest.raises(StoreUnavailableError, match="empty"):
        scan(evidence, mark_rows=True)
    assert evidence.deleted() == set()


def test_file_without_row_is_found_after_the_grace_period(evidence: Evidence) -> None:
    """A young file may still get its row; the others are reported, and deleted when that is asked for."""
    evidence.add("text.txt", type="visible_text", retention_until=None)
    evidence.add("back/from-a-backup.gz", file=False, deleted_at=utc_now())
    old = {"stray/1.gz", "stray/2.gz", "back/from-a-backup.gz"}
    for name in (*old, "text.txt"):
        write_old(evidence, name)
    write_old(evidence, "stray/young.gz", hours=71)
    assert found(scan(evidence)) == (old, set())
    assert evidence.files() == {*old, "text.txt", "stray/young.gz"}
    report = scan(evidence, delete_files=True)
    assert (report.files_seen, report.removed, report.removed_bytes) == (5, 3, 3 * SIZE)
    assert evidence.files() == {"text.txt", "stray/young.gz"}


def test_file_that_goes_while_we_look_is_no_loss(evidence: Evidence) -> None:
    """A cleaner that takes a row between our two looks leaves no false report."""
    key = evidence.add("a.gz", age=LIVE)

    class Cleaned(FolderStore):
        def exists(self, uri: str) -> bool:
            evidence.change(key, deleted_at=utc_now())
            self.delete(uri)
            return super().exists(uri)

    assert found(find_orphans(evidence.database, Cleaned(evidence.root), OrphanOrder())) == (set(), set())


def findings(evidence: Evidence) -> dict[UUID, Finding]:
    """What each readable artifact is like."""
    return {each.artifact.id: each.finding for each in examine_all(evidence.database, evidence.blobs)}


def test_each_kind_of_damage_is_told(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other bytes, other content, no file, a path that leads elsewhere."""
    monkeypatch.setattr(bodies, "PAGE_ROWS", 2)
    other = files.gzipped(b"something else")
    expected = {
        evidence.add("fine.gz"): Finding.INTACT,
        evidence.add("swapped.gz", checksum=other.checksum): Finding.CHECKSUM,
        evidence.add("content.gz", content_sha256=other.content_sha256): Finding.CONTENT,
        evidence.add("gone.gz", file=False): Finding.MISSING,
        evidence.add("../x", file=False): Finding.UNSAFE_PATH,
        evidence.add(
            "text.txt", type="visible_text", retention_until=None, content_sha256=PACKED.checksum
        ): Finding.INTACT,
    }
    key = evidence.add("torn.gz")
    (evidence.root / "torn.gz").write_bytes(PACKED.data[:-5])
    expected[key] = Finding.CHECKSUM
    cut = files.plain(PACKED.data[:-5])
    key = evidence.add("recorded-torn.gz", checksum=cut.checksum)
    (evidence.root / "recorded-torn.gz").write_bytes(cut.data)
    expected[key] = Finding.CONTENT
    assert findings(evidence) == expected


def test_deleted_rows_are_not_looked_for(evidence: Evidence) -> None:
    """What retention took is no damage, nor what a cleaner is just taking."""
    evidence.add("a.gz", file=False, deleted_at=utc_now())
    evidence.add("b.gz", file=False, cleanup_claim="x", cleanup_claimed_until=utc_now() + DAY)
    key = evidence.add("c.gz", cleanup_claim="x", cleanup_claimed_until=utc_now() - DAY)
    assert findings(evidence) == {key: Finding.INTACT}
