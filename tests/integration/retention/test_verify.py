"""Stored files against what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.clock import utc_now
from crawler.errors import NotFoundError
from crawler.evidence import bodies, files
from crawler.evidence.bodies import Finding, examine_all
from tests.integration.retention.stored import CONTENT, DAY, PACKED, Evidence

if TYPE_CHECKING:
    from uuid import UUID


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


def test_artifact_is_found_by_the_start_of_its_id(evidence: Evidence) -> None:
    """A few letters do, with or without dashes; an ambiguous or unknown start is said so."""
    key = evidence.add("a.gz")
    with evidence.database.read() as db:
        for prefix in (str(key), key.hex, str(key)[:12], str(key)[:1], str(key).upper()):
            assert bodies.find(db, prefix).id == key
        first = bodies.find(db, str(key))
        assert b"".join(bodies.decoded(evidence.blobs, first)) == CONTENT
        for prefix in ("", "zz", str(key) + "0", f"{(int(key.hex[0], 16) + 1) % 16:x}"):
            with pytest.raises(NotFoundError):
                bodies.find(db, prefix)


def test_ambiguous_id_is_refused(evidence: Evidence) -> None:
    """Of seventeen ids two begin alike."""
    keys = [evidence.add(f"{number}.gz") for number in range(17)]
    letters = [key.hex[0] for key in keys]
    twice = next(letter for letter in letters if letters.count(letter) > 1)
    with evidence.database.read() as db, pytest.raises(NotFoundError, match="several"):
        bodies.find(db, twice)
