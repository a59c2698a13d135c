"""Stored files against what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.clock import utc_now
from crawler.evidence import bodies, files
from crawler.evidence.bodies import Finding, examine_all
from tests.unit.retention.stored import DAY, PACKED, Evidence

if TYPE_CHECKING:
    from uuid import UUID

    import pytest


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
