"""A file is whole or open; what a row names is on the disk; what a dead process left is brought in order."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import select

from crawler.db.models import WarcFile
from crawler.evidence.blobs import DiskFullError, StoreUnavailableError
from crawler.evidence.warc_files import NoRows, WarcRows
from crawler.evidence.warc_shelf import WarcShelf, recover
from crawler.warc.reader import Bad, Entry
from crawler.warc.scan import walk
from tests.unit.warc.made import ABOUT, appended, exchange, page

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from crawler.db.engine import Database


def opened(folder: Path, **how: Any) -> WarcShelf:
    """A shelf whose files no database knows."""
    return WarcShelf(folder, ABOUT, how.pop("register", NoRows()), **{"max_bytes": 10**9, **how})


@pytest.fixture
def shelf(tmp_path: Path) -> Generator[WarcShelf]:
    """An empty one."""
    shelf = opened(tmp_path / "warcs")
    yield shelf
    shelf.close()


def read(path: Path) -> list[Entry]:
    """A file's records, of which none may be damaged."""
    with path.open("rb") as file:
        found = list(walk(file))
    assert [each for each in found if isinstance(each, Bad)] == []
    return [each for each in found if isinstance(each, Entry)]


def files(folder: Path) -> list[Path]:
    """What is in a folder."""
    return sorted(folder.iterdir())


def rows(database: Database) -> list[WarcFile]:
    """What is written down of files."""
    with database.read() as db:
        return list(db.scalars(select(WarcFile).order_by(WarcFile.id)))


def test_an_answer_lies_where_it_is_said_to(database: Database, tmp_path: Path) -> None:
    """At once, in the open file, and after it is sealed; its row and its facts say what is in it."""
    folder = tmp_path / "warcs"
    shelf = opened(folder, register=WarcRows(database))
    places = [appended(shelf, exchange(body=page(number))) for number in range(3)]
    [file] = files(folder)
    assert file.name == places[0].path + ".open"
    [row] = rows(database)
    assert (row.id, row.path, row.state, row.folder) == (
        places[0].file_id, places[0].path, "open", str(folder),
    )  # fmt: skip
    facts = shelf.seal(None).result()
    shelf.close()
    assert facts is not None
    [file] = files(folder)
    answers = [each for each in read(file) if each.head.kind == "response"]
    assert [(each.offset, each.length) for each in answers] == [(p.offset, p.pair.length) for p in places]
    assert [each.head.get("warc-record-id") for each in answers] == [p.pair.record_id for p in places]
    data = file.read_bytes()
    [row] = rows(database)
    assert (row.state, row.records_bad, row.damage, row.sealed_at is None) == ("sealed", 0, None, False)
    for said in (facts, row):
        assert (said.records, said.size_bytes, said.sha256) == (3, len(data), sha256(data).hexdigest())
        assert (said.first_at, said.last_at) == (places[0].pair.captured_at, places[2].pair.captured_at)


def test_each_visit_has_its_own_file(tmp_path: Path) -> None:
    """So that one can go without the other: what repeats an answer is in the same file."""
    shelf = opened(tmp_path, revisits="url")
    one, other = uuid4(), uuid4()
    kinds = [appended(shelf, exchange(), session).pair.kind for session in (one, other, one)]
    assert kinds == ["response", "response", "revisit"]
    assert shelf.seal(one).result() is not None
    assert shelf.seal(one).result() is None
    assert len(files(tmp_path)) == 2
    assert len(list(tmp_path.glob("*.open"))) == 1
    shelf.close()


def test_a_file_ends_after_a_pair(tmp_path: Path) -> None:
    """Never in the midst of one, and with no record of a larger file lost."""
    shelf = opened(tmp_path, max_bytes=4000)
    for number in range(10):
        appended(shelf, exchange(body=page(number)))
    shelf.close()
    found = [read(path) for path in files(tmp_path)]
    assert len(found) > 3
    for each in found:
        assert [entry.head.kind for entry in each] == [
            "warcinfo",
            *["response", "request"] * (len(each) // 2),
        ]
        assert sum(entry.length for entry in each[:-2]) < 4000
    assert sum(len(each) // 2 for each in found) == 10


def test_a_failed_flush_is_tried_again(shelf: WarcShelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told that bytes are safe which are not."""

    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    appended(shelf, exchange())
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        for _ in range(2):
            with pytest.raises(DiskFullError):
                shelf.sync()
    shelf.sync()


def test_a_full_disk_leaves_no_half_record(shelf: WarcShelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file ends where it ended before, and goes on when there is room again."""
    appended(shelf, exchange(body=page(1)))
    write = os.write

    def some(handle: int, data: memoryview) -> int:
        if len(data) < 700:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data[:500])

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", some)
        with pytest.raises(DiskFullError, match="no room"):
            appended(shelf, exchange(body=page(2)))
    last = appended(shelf, exchange(body=page(3)))
    shelf.seal(None).result()
    [file] = files(shelf.folder)
    assert [each.head.kind for each in read(file)].count("response") == 2
    assert read(file)[-2].offset == last.offset


def test_a_folder_that_vanishes_is_told(shelf: WarcShelf) -> None:
    """Bytes that go into a file without a name are lost."""
    appended(shelf, exchange())
    shutil.rmtree(shelf.folder)
    with pytest.raises(StoreUnavailableError, match="was removed"):
        appended(shelf, exchange())
    with pytest.raises(StoreUnavailableError, match="was removed"):
        appended(shelf, exchange(), uuid4())
    shelf._files.clear()


def test_the_folder_may_be_a_link_but_no_file_in_it(tmp_path: Path) -> None:
    """Whoever set it meant it; what lies in it may be a stranger's."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    (tmp_path / "there" / "x.warc.gz.open").symlink_to(victim)
    shelf = opened(tmp_path / "link")
    appended(shelf, exchange())
    shelf.close()
    assert victim.read_bytes() == b"precious"
    assert len(files(tmp_path / "there")) == 2


WRITER = """
import os, sys, time
from pathlib import Path
from crawler.evidence.warc_files import NoRows
from crawler.evidence.warc_shelf import WarcShelf
from tests.unit.warc.made import ABOUT, appended, exchange, page
shelf = WarcShelf(Path(sys.argv[1]), ABOUT, NoRows(), max_bytes=10**9)
for number in range(5):
    appended(shelf, exchange(body=page(number)))
print("written", flush=True)
time.sleep(100)
"""


def test_what_a_killed_process_left(tmp_path: Path) -> None:
    """Nothing of it is touched while it lives; then all that was whole is sealed by whoever comes next."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        assert recover(tmp_path, NoRows()) == []
        process.send_signal(signal.SIGKILL)
    [file] = files(tmp_path)
    data = file.read_bytes()
    os.truncate(file, len(data) - 100)
    shelf = opened(tmp_path)
    shelf.close()
    [sealed] = files(tmp_path)
    assert sealed.name == file.name.removesuffix(".open")
    assert [each.head.kind for each in read(sealed)] == ["warcinfo", *["response", "request"] * 4, "response"]
    assert data.startswith(sealed.read_bytes())


def test_a_name_that_is_taken_is_not_overwritten(tmp_path: Path) -> None:
    """Whoever has copied such a file beside the open one loses neither."""
    shelf = opened(tmp_path)
    place = appended(shelf, exchange())
    (tmp_path / place.path).write_bytes(b"precious")
    with pytest.raises(Exception, match="File exists"):
        shelf.seal(None).result()
    shelf.close()
    assert (tmp_path / place.path).read_bytes() == b"precious"


def test_recovered_files_have_rows(database: Database, tmp_path: Path) -> None:
    """Whether somebody had written them down before or not; what was cut off is on record."""
    for name in ("a", "b", "c"):
        folder = tmp_path / name
        shelf = opened(folder)
        appended(shelf, exchange())
        shelf.close()
        [file] = files(folder)
        (tmp_path / f"{name}.warc.gz.open").write_bytes(file.read_bytes() + b"\x1f\x8b\x08torn")
        shutil.rmtree(folder)
    (tmp_path / "c.warc.gz.open").write_bytes(b"")
    register = WarcRows(database)
    for name in ("a", "c"):
        register.opened(tmp_path, f"{name}.warc.gz", None)
    recover(tmp_path, register)
    found = {row.path: row for row in rows(database)}
    assert {path: row.state for path, row in found.items()} == {
        "a.warc.gz": "sealed", "b.warc.gz": "sealed", "c.warc.gz": "gone",
    }  # fmt: skip
    assert found["a.warc.gz"].damage == {"cut_bytes": 7, "why": "its writer died"}
    assert found["c.warc.gz"].gone_why == "empty"


def test_a_file_whose_end_nobody_wrote_down(database: Database, tmp_path: Path) -> None:
    """Its writer died between name and row: the row says it after all; what is not there stays missed."""
    register = WarcRows(database)
    shelf = opened(tmp_path, register=register)
    appended(shelf, exchange())
    shelf.close()
    with database.write() as db:
        [row] = db.scalars(select(WarcFile))
        path, size, sha256 = row.path, row.size_bytes, row.sha256
        row.state, row.size_bytes, row.records, row.sha256, row.sealed_at = "open", 0, 0, None, None
    register.opened(tmp_path, "away.warc.gz", None)
    assert [facts.path for facts in recover(tmp_path, register)] == [path]
    found, away = rows(database)
    assert (found.state, found.records, found.size_bytes, found.sha256) == ("sealed", 1, size, sha256)
    assert (found.damage, away.state) == (None, "open")
