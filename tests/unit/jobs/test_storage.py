"""One writer at a time in an archive's folder; a log without secrets; the last word of a long one."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from crawler.access.process import process_mark
from crawler.jobs import storage
from crawler.jobs.storage import (
    ArchiveBusyError,
    CombinedLog,
    last_statistics,
    locked,
    pid_here,
)

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
LINE = '{"context":"crawlStatus","message":"Crawl statistics","details":{"crawled":%d}}'


def test_one_writer_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one waits for a while; then the first one's end is all that it needs."""
    monkeypatch.setattr(storage, "PATIENCE_SECONDS", -1.0)
    with locked(tmp_path), pytest.raises(ArchiveBusyError, match=str(tmp_path)), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """What lies in an archive's folder may be an attacker's."""
    (tmp_path / "target").write_text("keep", encoding="utf-8")
    (tmp_path / storage.LOCK_FILE).symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path):
        pass
    assert (tmp_path / "target").read_text("utf-8") == "keep"


@pytest.mark.parametrize(
    "said",
    [b"", b"[]", b"{", b'{"guard": 5}', b'{"guard": "a|b|c|1|e"}', b"[" * 9_999, b'{"guard": null}', b"\xff"],
)
def test_a_lock_that_says_nonsense_ends_nobody(
    tmp_path: Path, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is busy, and that is all."""
    killed: list[int] = []
    monkeypatch.setattr(storage, "PATIENCE_SECONDS", -1.0)
    monkeypatch.setattr(os, "kill", lambda pid, _: killed.append(pid))
    with locked(tmp_path):
        (tmp_path / storage.LOCK_FILE).write_bytes(said)
        with pytest.raises(ArchiveBusyError), locked(tmp_path):
            pass
    assert killed == []


def test_a_process_is_known_by_its_mark() -> None:
    """Not one that has its number now, nor one of another machine."""
    mark = process_mark(os.getpid())
    assert pid_here(mark) == os.getpid()
    parts = mark.split("|")
    for place, other in ((3, "999999999"), (4, "0"), (0, "elsewhere"), (3, "x")):
        assert pid_here("|".join((*parts[:place], other, *parts[place + 1 :]))) is None
    assert pid_here("") is None


def test_a_log_shows_no_password_and_steers_no_terminal(tmp_path: Path) -> None:
    """Whatever the tool says, in whatever bytes; a line stays one."""
    log = CombinedLog(tmp_path, "crawl", NOW)
    shown = log.write(b"https://me:geheim@shop.example/ \x1b[2J\x00\xff\ttab")
    log.close()
    log.close()
    assert "geheim" not in shown
    assert not set("\x1b\x00") & set(shown)
    assert log.path.read_text("utf-8") == shown + "\n"
    with pytest.raises(FileExistsError):
        CombinedLog(tmp_path, "crawl", NOW)


def test_the_last_statistics_of_the_newest_log_that_has_any(tmp_path: Path) -> None:
    """Of this crawl: what was written before it is another's."""
    for number, (name, lines) in enumerate(
        {"old": [LINE % 1], "some": [LINE % 2, LINE % 3, "later"], "none": ["nothing"]}.items()
    ):
        path = tmp_path / f"archive_{name}_20260504.combined.log"
        path.write_text("\n".join(lines), encoding="utf-8")
        os.utime(path, (1000 + number, 1000 + number))
    found = last_statistics(tmp_path, 1001)
    assert found is not None
    assert (found[0].name, found[1].crawled) == ("archive_some_20260504.combined.log", 3)
    assert last_statistics(tmp_path, 1002) is None
    assert last_statistics(tmp_path / "none", 0) is None
