"""Stored files against what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.clock import utc_now
from crawler.db.models import Artifact
from crawler.evidence import bodies, files
from crawler.evidence.bodies import Finding, examine_all
from tests.integration.retention.shelf import CONTENT, DAY, PACKED, RetainedTable

if TYPE_CHECKING:
    from uuid import UUID

    import pytest


def findings(shelf: RetainedTable) -> dict[UUID, Finding]:
    """What each readable artifact is like."""
    return {each.artifact.id: each.finding for each in examine_all(shelf.database, shelf.blobs)}


def test_each_kind_of_damage_is_told(shelf: RetainedTable, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other bytes, other content, no file, a path that leads elsewhere."""
    monkeypatch.setattr(bodies, "PAGE_ROWS", 2)
    other = files.gzipped(b"something else")
    expected = {
        shelf.add("fine.gz"): Finding.INTACT,
        shelf.add("swapped.gz", checksum=other.checksum): Finding.CHECKSUM,
        shelf.add("content.gz", content_sha256=other.content_sha256): Finding.CONTENT,
        shelf.add("gone.gz", file=False): Finding.MISSING,
        shelf.add("../x", file=False): Finding.UNSAFE_PATH,
        shelf.add(
            "text.txt", type="visible_text", retention_until=None, content_sha256=PACKED.checksum
        ): Finding.INTACT,
    }
    key = shelf.add("torn.gz")
    (shelf.root / "torn.gz").write_bytes(PACKED.data[:-5])
    expected[key] = Finding.CHECKSUM
    cut = files.plain(PACKED.data[:-5])
    key = shelf.add("recorded-torn.gz", checksum=cut.checksum)
    (shelf.root / "recorded-torn.gz").write_bytes(cut.data)
    expected[key] = Finding.CONTENT
    assert findings(shelf) == expected


def test_deleted_rows_are_not_looked_for(shelf: RetainedTable) -> None:
    """What retention took is no damage, nor what a cleaner is just taking."""
    shelf.add("a.gz", file=False, deleted_at=utc_now())
    shelf.add("b.gz", file=False, cleanup_claim="x", cleanup_claimed_until=utc_now() + DAY)
    key = shelf.add("c.gz", cleanup_claim="x", cleanup_claimed_until=utc_now() - DAY)
    assert findings(shelf) == {key: Finding.INTACT}


def test_content_is_unpacked(shelf: RetainedTable) -> None:
    """What is stored packed is read as it was."""
    key = shelf.add("a.gz")
    with shelf.database.read() as db:
        row = db.get_one(Artifact, key)
    assert b"".join(bodies.decoded(shelf.blobs, row)) == CONTENT
