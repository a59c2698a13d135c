"""What every artifact store promises."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from crawler.clock import utc_now
from crawler.evidence.blobs import (
    BlobExistsError,
    BlobMissingError,
    Removal,
    StoreUnavailableError,
    UnsafePathError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.evidence.blobs import BlobStore

    MakeStore = Callable[[str], BlobStore]

URI = "shop.example__1/homepage/desktop/html.gz"
BIG = bytes(range(256)) * 4096  # a megabyte, several chunks
NAMES = ("a", "a b/ü.html", "x/%2e%2e/y", "x/.hidden", "~/b#?[]*.txt", "n" * 255, "a/b/c/d/e/f/g/h")
UNSAFE = (
    "", "/", "/etc/passwd", "..", "../x", "a/../b", "a/..", "./a", "a/./b", "a//b", "a/", "//a",
    "a\\b", "..\\x", "a\x00b", "a\nb", "\x7f", "\ud800", "n" * 256,
)  # fmt: skip


def names_in(blobs: BlobStore) -> set[str]:
    """Everything that a listing shows."""
    return {entry.uri for entry in blobs.entries()}


def test_bytes_come_back(blobs: BlobStore) -> None:
    """What was published is read, whole and in chunks: a reader never holds a large file in memory."""
    for uri, data in (("empty", b""), ("small", b"<html>"), (URI, BIG)):
        blobs.publish(uri, data)
        assert blobs.read(uri) == data
        assert b"".join(blobs.stream(uri)) == data
    assert max(map(len, blobs.stream(URI))) < len(BIG)


def test_names_are_taken_literally(blobs: BlobStore) -> None:
    """Nothing in a name is decoded, folded or hidden."""
    for uri in NAMES:
        blobs.publish(uri, b"1")
        assert blobs.read(uri) == b"1"
        assert names_in(blobs) == {uri}
        assert blobs.delete(uri)


def test_a_part_is_read_from_any_place(blobs: BlobStore) -> None:
    """As much as is asked for, and nothing behind the end."""
    blobs.publish(URI, BIG)
    with blobs.open(URI) as file:
        for offset, length in (
            (1000, 10),
            (5, 300_000),
            (len(BIG) - 3, 10),
            (len(BIG), 1),
            (len(BIG) + 9, 1),
        ):
            file.seek(offset)
            assert file.read(length) == BIG[offset : offset + length]
        file.seek(0)
        assert file.read(4) + file.read(4) == BIG[:8]


def test_taken_name_is_refused(blobs: BlobStore) -> None:
    """Evidence is never overwritten."""
    blobs.publish(URI, b"first")
    with pytest.raises(BlobExistsError):
        blobs.publish(URI, b"second")
    assert blobs.read(URI) == b"first"


def test_one_of_many_publishers_wins(blobs: BlobStore) -> None:
    """Of those that publish one name at once exactly one succeeds, and its bytes are there."""
    won: list[int] = []

    def publish(number: int) -> None:
        try:
            blobs.publish(URI, b"%d" % number * 10_000)
        except BlobExistsError:
            return
        won.append(number)

    threads = [threading.Thread(target=publish, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [winner] = won
    assert blobs.read(URI) == b"%d" % winner * 10_000


def test_missing_file(blobs: BlobStore) -> None:
    """Nothing there: no bytes, and nothing to delete."""
    with pytest.raises(BlobMissingError):
        blobs.read(URI)
    with pytest.raises(BlobMissingError):
        next(iter(blobs.stream(URI)))
    with pytest.raises(BlobMissingError):
        blobs.open(URI)
    assert not blobs.exists(URI)
    assert blobs.delete(URI) is False


def test_deleted_file_is_gone(blobs: BlobStore) -> None:
    """Deletion says whether there was something; the neighbours stay, and the name is free again."""
    for uri in (URI, f"{URI}.txt", "other"):
        blobs.publish(uri, b"1")
    assert blobs.exists(URI)
    assert blobs.delete(URI) is True
    assert blobs.delete(URI) is False
    assert names_in(blobs) == {f"{URI}.txt", "other"}
    blobs.publish(URI, b"2")
    assert blobs.read(URI) == b"2"


def test_many_are_deleted_at_once(blobs: BlobStore) -> None:
    """Each gets its answer: gone, or why not."""
    uris = [f"s{number % 3}/{number}" for number in range(1100)]
    for uri in [*uris[:5], uris[-1]]:
        blobs.publish(uri, b"1")
    blobs.publish("stays", b"1")
    removals = {removal.uri: removal for removal in blobs.delete_all(["../x", *uris])}
    assert set(removals) == {"../x", *uris}
    assert isinstance(removals.pop("../x").error, UnsafePathError)
    assert not any(removal.error for removal in removals.values())
    assert removals[uris[0]] == Removal(uris[0])
    assert names_in(blobs) == {"stays"}


def test_entries_have_size_and_age(blobs: BlobStore) -> None:
    """A listing says how large a file is, and since when it is there."""
    assert list(blobs.entries()) == []
    blobs.publish(URI, b"12345")
    blobs.publish("second", b"")
    found = {entry.uri: entry for entry in blobs.entries()}
    assert {uri: entry.size_bytes for uri, entry in found.items()} == {URI: 5, "second": 0}
    for entry in found.values():
        assert abs(entry.modified - utc_now()) < timedelta(minutes=1)


def test_unsafe_names_are_refused(blobs: BlobStore) -> None:
    """Nothing outside the root is read, written or removed, whatever is asked."""
    ways: tuple[Callable[[str], object], ...] = (
        lambda uri: blobs.publish(uri, b"1"), blobs.read, lambda uri: next(iter(blobs.stream(uri))),
        blobs.exists, blobs.delete,
    )  # fmt: skip
    for uri in UNSAFE:
        for way in ways:
            with pytest.raises(UnsafePathError):
                way(uri)
        [removal] = blobs.delete_all([uri])
        assert isinstance(removal.error, UnsafePathError)
    assert names_in(blobs) == set()


def test_store_that_is_away_is_no_empty_store(open_place: MakeStore) -> None:
    """A file in a store that is not there is not called missing."""
    away = open_place("nobody-made-this")
    with pytest.raises(StoreUnavailableError):
        away.exists(URI)
    with pytest.raises(StoreUnavailableError):
        away.delete(URI)
    with pytest.raises(StoreUnavailableError):
        list(away.delete_all([URI]))
    with pytest.raises(StoreUnavailableError):
        list(away.entries())


def test_several_are_stored_or_none(blobs: BlobStore) -> None:
    """One name that is taken refuses them all; the others are not left behind."""
    blobs.publish("visit/pdp/text.txt", b"first")
    with pytest.raises(BlobExistsError):
        blobs.publish_all({"visit/pdp/html.gz": b"1", "visit/home/a": b"2", "visit/pdp/text.txt": b"3"})
    assert {entry.uri for entry in blobs.entries()} == {"visit/pdp/text.txt"}
    blobs.publish_all({"visit/pdp/html.gz": b"1", "visit/home/a": b"2"})
    assert blobs.read("visit/home/a") == b"2"
