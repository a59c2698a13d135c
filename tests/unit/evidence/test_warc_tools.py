"""What is done to WARC files that lie somewhere: how closely they are looked at, and which count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.evidence.warc_tools import Level, discover, in_folder, verify
from crawler.warc.records import digest, member, new_id, record
from tests.unit.warc.made import exchange, made, page

if TYPE_CHECKING:
    from pathlib import Path

WELL, _ = made(exchange("https://shop.example/p", page(1)))
OTHER_DIGEST = member(
    record(
        "resource", new_id(),
        (("WARC-Date", "2026-01-02T03:04:05Z"), ("WARC-Target-URI", "https://shop.example/"),
         ("Content-Type", "text/plain"), ("WARC-Block-Digest", digest(b"other"))),
        b"this",
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("data", "well"),
    [
        (WELL, {Level.THERE, Level.WHOLE, Level.DIGESTS}),
        (OTHER_DIGEST, {Level.THERE, Level.WHOLE}),
        (WELL[:-20], {Level.THERE}),
        (b"no archive", {Level.THERE}),
        (b"", set()),
    ],
    ids=["well", "another digest", "torn", "no archive", "empty"],
)  # fmt: skip
def test_a_file_is_looked_at_as_closely_as_is_asked(tmp_path: Path, data: bytes, well: set[Level]) -> None:
    """Each level finds what the one below passes over."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(data)
    assert {level for level in Level if verify(path, level).is_well} == well
    assert verify(path, Level.WHOLE).digests_checked == 0


@pytest.mark.parametrize("level", list(Level))
def test_a_file_that_is_not_there(tmp_path: Path, level: Level) -> None:
    """Whichever way it is looked for."""
    assert verify(tmp_path / "none.warc.gz", level).state == "missing"


def test_empty_files_are_passed_over_where_pages_are_looked_for(tmp_path: Path) -> None:
    """And counted where damage is."""
    for name in ("warcs/a.warc.gz", "warcs/b.warc.gz", "c.warc"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(WELL if name.endswith("a.warc.gz") else b"")
    assert [path.name for path in discover(tmp_path)] == ["a.warc.gz"]
    assert [path.name for path in discover(tmp_path, with_empty=True)] == ["a.warc.gz", "b.warc.gz"]
    assert in_folder(tmp_path) == []
    assert [path.name for path in in_folder(tmp_path, with_empty=True)] == ["c.warc"]
