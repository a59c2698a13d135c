"""What only a folder can do wrong: links, pipes, folders that come and go, disks that are full."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from crawler.errors import CrawlerError
from crawler.evidence import folder_store
from crawler.evidence.blobs import BlobExistsError, DiskFullError, Removal, UnsafePathError
from crawler.evidence.folder_store import FolderStore, FolderWalk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The artifacts' root."""
    folder = tmp_path / "artifacts"
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Somebody else's file, beside the root."""
    path = tmp_path / "outside" / "victim.txt"
    path.parent.mkdir()
    path.write_bytes(b"mine")
    return path


ESCAPES = (
    "link/victim.txt",  # through a linked folder
    "inner/link/victim.txt",  # through one further down
    "victim-link",  # a linked file
    "dangling/x",  # through a link to nowhere
    "file/x",  # through a file
    "folder",  # a folder itself
    "pipe",  # which would wait for ever
)


@pytest.mark.parametrize("uri", ESCAPES)
def test_escapes_are_refused(root: Path, outside: Path, uri: str) -> None:
    """Whatever somebody planted below the root, no link is followed and only regular files are touched."""
    (root / "inner").mkdir()
    (root / "folder").mkdir()
    for link in (root / "link", root / "inner" / "link"):
        link.symlink_to(outside.parent)
    (root / "victim-link").symlink_to(outside)
    (root / "dangling").symlink_to(root / "nowhere")
    (root / "file").write_bytes(b"1")
    os.mkfifo(root / "pipe")
    store = FolderStore(root)
    before = sorted(root.rglob("*"))
    for attempt in (store.delete, store.read, store.exists):
        with pytest.raises(UnsafePathError):
            attempt(uri)
    [removal] = store.delete_all([uri])
    assert isinstance(removal.error, UnsafePathError)
    with pytest.raises((UnsafePathError, BlobExistsError)):
        store.publish(uri, b"2")
    assert outside.read_bytes() == b"mine"
    assert sorted(root.rglob("*")) == before


def test_listing_shows_regular_files_alone(root: Path, outside: Path) -> None:
    """Links are neither followed nor listed."""
    (root / "link").symlink_to(outside.parent)
    (root / "victim-link").symlink_to(outside)
    os.mkfifo(root / "pipe")
    FolderStore(root).publish("a/b/c", b"1")
    assert {entry.uri for entry in FolderStore(root).entries()} == {"a/b/c"}


def test_empty_folders_go_with_their_last_file(root: Path, tmp_path: Path) -> None:
    """The root stays, which may be a link, and a folder with something in it."""
    (tmp_path / "linked").symlink_to(root)
    store = FolderStore(tmp_path / "linked")
    for uri in ("s/a/1", "s/b/2"):
        store.publish(uri, b"1")
    store.delete("s/a/1")
    assert [path.name for path in (root / "s").iterdir()] == ["b"]
    store.delete("s/b/2")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(("sessions", "quick_seconds"), [(4, 60.0), (33, 0.0), (33, -1.0)])
def test_many_deletions_prune_as_they_go(
    root: Path, monkeypatch: pytest.MonkeyPatch, sessions: int, quick_seconds: float
) -> None:
    """In one thread where they wait for nothing, else in several: answered in the order asked."""
    monkeypatch.setattr(folder_store, "_QUICK_SECONDS", quick_seconds)
    monkeypatch.setattr(folder_store, "_SLOW_SECONDS", 0.0 if quick_seconds < 0 else 60.0)
    store = FolderStore(root)
    uris = sorted(f"s{a}/{b}/html.gz" for a in range(sessions) for b in range(3))
    for uri in uris:
        store.publish(uri, b"1")
    assert list(store.delete_all(uris)) == [Removal(uri) for uri in uris]
    assert list(store.delete_all(uris)) == [Removal(uri, found=False) for uri in uris]
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("times", [2, 10**6])
def test_a_folder_that_vanishes_is_made_again(
    root: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """A cleaner may remove an empty folder just before a file is put there; after a few times it is told."""
    real, left = FolderWalk.enter, iter(range(times))

    def enter(walk: FolderWalk, names: list[str], *, create: bool = False) -> int:
        folder = real(walk, names, create=create)
        if next(left, None) is not None:
            (root / "a").rmdir()
        return folder

    monkeypatch.setattr(FolderWalk, "enter", enter)
    if times > 2:
        with pytest.raises(CrawlerError, match="goes whenever"):
            FolderStore(root).publish("a/b", b"1")
        assert list(root.iterdir()) == []
    else:
        FolderStore(root).publish("a/b", b"1")
        assert (root / "a" / "b").read_bytes() == b"1"


@pytest.mark.parametrize("how", ["no such flag", "not on this file system"])
def test_file_systems_without_nameless_files(root: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """A named part takes the draft's place, and is gone at the end."""
    if how == "no such flag":
        monkeypatch.delattr(os, "O_TMPFILE")
    else:
        monkeypatch.setattr(os, "O_TMPFILE", 0)  # opening a folder for writing fails with EISDIR
    store = FolderStore(root)
    real = os.link
    before: list[str] = []

    def link(*args: Any, **options: Any) -> None:
        before.extend(path.suffix for path in root.rglob("*") if path.is_file())
        real(*args, **options)

    monkeypatch.setattr(os, "link", link)
    store.publish("a/b", b"1")
    assert before == [".part"]
    with pytest.raises(BlobExistsError):
        store.publish("a/b", b"2")
    assert {entry.uri for entry in store.entries()} == {"a/b"}
    assert store.read("a/b") == b"1"


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, DiskFullError), (errno.EDQUOT, DiskFullError), (errno.EACCES, CrawlerError)],
)
def test_a_full_disk_is_told_apart(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[CrawlerError]
) -> None:
    """No room is an error of its own; the message names the file, and nothing is left."""

    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(kind, match="a/b") as error:
        FolderStore(root).publish("a/b", b"1")
    assert type(error.value) is kind
    assert list(root.iterdir()) == []


WRITER = """
import sys
from pathlib import Path
from crawler.evidence.folder_store import FolderStore
def wait(*_):
    print("half", flush=True)
    sys.stdin.read()
FolderStore._flush = wait  # the bytes are written, the name is not
FolderStore(Path(sys.argv[1])).publish("a/b", b"x" * 1_000_000)
"""


def test_killed_writer_leaves_nothing(root: Path) -> None:
    """A crash in the middle of a file leaves no trace of it."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout
        assert writer.stdout.readline() == b"half\n"
        os.kill(writer.pid, signal.SIGKILL)
    assert list(root.iterdir()) == []
