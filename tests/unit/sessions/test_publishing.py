"""Files of writes: which are published ahead of their turn, and that their names are looked at first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, field

from crawler.capture.artifact_types import HTML, MEDIA
from crawler.evidence.blobs import BlobExistsError
from crawler.evidence.files import KeptFile, media_file, plain
from crawler.sessions.publishing import publish, publish_ahead
from crawler.sessions.writes import Write

if TYPE_CHECKING:
    from collections.abc import Mapping


@define
class Names:
    """A store that knows names only."""

    taken: set[str] = field(factory=set)
    groups: int = 0

    def publish_all(self, files: Mapping[str, bytes]) -> None:
        """All or none."""
        self.groups += 1
        if self.taken & files.keys():
            raise BlobExistsError("taken")
        self.taken |= files.keys()

    def exists(self, uri: str) -> bool:
        """Whether it was published."""
        return uri in self.taken


class FileWrite(Write[None]):
    """Stores a file without a row."""

    def __init__(self, file: KeptFile) -> None:
        super().__init__()
        self.files = [file]

    def write_rows(self, db: Any) -> None:
        """Write none."""


class ReplacingWrite(FileWrite):
    """Overwrites what has the file's name."""

    replaces = True


def a_write(name: str) -> Write[None]:
    """A write with one file."""
    return FileWrite(KeptFile.of(HTML, name, b"x"))


def ahead(store: Any, *writes: Write[None]) -> list[bool]:
    """Which were published."""
    publish_ahead(store, writes)
    return [write.is_published for write in writes]


def test_files_go_ahead_together() -> None:
    """With one flush."""
    store = Names()
    assert ahead(store, a_write("a"), a_write("b")) == [True, True]
    assert (store.taken, store.groups) == ({"a", "b"}, 1)


def test_what_others_may_have_or_what_replaces_waits_for_its_turn() -> None:
    """The group before may take a shared file back; who replaces takes another's file away."""
    packed = plain(b"picture")
    shared = KeptFile(MEDIA, media_file("s", packed.content_sha256, "image/png"), packed, "image/png", None)
    store = Names()
    log = ReplacingWrite(KeptFile.of(HTML, "log", b"x"))
    assert ahead(store, FileWrite(shared), log) == [False, False]
    assert not store.taken


def test_a_refusal_ahead_is_nobodys_error() -> None:
    """In its turn each write is published for itself, and the one that is refused is told."""
    store: Any = Names({"a"})
    writes = [a_write("a"), a_write("b")]
    assert ahead(store, *writes) == [False, False]
    assert [write.error for write in writes] == [None, None]
    publish(store, writes)
    assert [write.is_published for write in writes] == [False, True]
    assert isinstance(writes[0].error, BlobExistsError)


def test_two_files_of_one_name_are_not_one() -> None:
    """The second would go as if it lay there."""
    store = Names()
    assert ahead(store, a_write("a"), a_write("a")) == [False, False]
    assert not store.taken
