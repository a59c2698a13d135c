"""Temporary folders of attempts in vain: removed where all that they have is elsewhere too."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING
from uuid import uuid4

from crawler.engines.leftovers import Leftovers

if TYPE_CHECKING:
    from pathlib import Path

PAGES = "https://shop.example/"


def captured(url: str) -> bytes:
    """A page as a WARC file has it."""
    body = "HTTP/1.1 200 OK\r\n\r\nhello"
    fields = {
        "WARC-Type": "response", "WARC-Target-URI": url, "WARC-Date": "2026-01-01T00:00:00Z",
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>", "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(body)),
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return gzip.compress(f"WARC/1.1\r\n{head}\r\n{body}\r\n\r\n".encode())


def attempt(folder: Path, name: str, *pages: str) -> Path:
    """A temporary folder with a file of these pages."""
    below = folder / name / "collections"
    below.mkdir(parents=True)
    file = below / "a.warc.gz"
    file.write_bytes(b"".join(captured(PAGES + page) for page in pages))
    return file


def test_what_only_one_attempt_captured_is_kept(tmp_path: Path) -> None:
    """Though it came less far than the one before; a repeat goes, and so does one without a capture.

    Half a record at the end of a file that was cut off is none, and what cannot be read is kept.
    """
    attempt(tmp_path, ".tmp1", "a", "b")
    cut = attempt(tmp_path, ".tmp2", "a")
    cut.write_bytes(cut.read_bytes() + captured(f"{PAGES}c")[:40])
    (attempt(tmp_path, ".tmp3", "a").parent / "b.warc.gz").symlink_to(tmp_path / "nowhere")
    attempt(tmp_path, ".tmp4")
    attempt(tmp_path, ".tmp5", "a", "x")
    notes: list[str] = []
    Leftovers(tmp_path).remove_repeats([".tmp1"], notes.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tmp1", ".tmp3", ".tmp5"]
    assert [note.split()[0] for note in notes] == [".tmp2", ".tmp4"]
