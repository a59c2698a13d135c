"""Which artifacts may be read, and how their content is packed and unpacked, whole and in pieces."""

from __future__ import annotations

import gzip
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.db.models import Artifact
from crawler.errors import IntegrityError
from crawler.evidence import files
from crawler.evidence.bodies import decoded, is_readable
from crawler.evidence.folder_store import FolderStore
from tests.unit.views.rows import a_session, an_artifact

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    from crawler.db.engine import Database


HOUR = timedelta(hours=1)


def artifact(database: Database, **columns: Any) -> UUID:
    """A row of a stored file."""
    with database.write() as db:
        session = a_session()
        for name, value in columns.items():
            columns[name] = db.now + value if isinstance(value, timedelta) else value
        row = an_artifact(session.id, **columns)
        db.add(session)
        db.flush()
        db.add(row)
        return row.id


def test_what_is_deleted_or_being_deleted_is_not_read(database: Database) -> None:
    """A cleaner that died holds nothing back once its claim is over."""
    free, died = artifact(database), artifact(database, cleanup_claim="x", cleanup_claimed_until=-HOUR)
    artifact(database, deleted_at=-HOUR)
    artifact(database, cleanup_claim="x", cleanup_claimed_until=HOUR)
    with database.read() as db:
        assert set(db.scalars(select(Artifact.id).where(is_readable(db.now)))) == {free, died}


def test_content_comes_out_as_it_went_in(tmp_path: Path) -> None:
    """Unpacked where its type is packed, and a piece at a time."""
    blobs = FolderStore(tmp_path)
    blobs.publish("page.gz", files.gzipped(PAGE).data)
    blobs.publish("text.txt", PAGE)
    page = Artifact(type="html_gz", storage_uri="page.gz")
    text = Artifact(type="visible_text", storage_uri="text.txt")
    assert b"".join(decoded(blobs, page)) == b"".join(decoded(blobs, text)) == PAGE


PAGE = b"<html>" + b"<p>a chair</p>" * 5_000


def pieces(data: bytes, size: int) -> list[bytes]:
    """Data as it comes from a store."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def test_same_bytes_give_the_same_file() -> None:
    """No time and no name gets into a packed file, and any gzip can read it."""
    packed = files.gzipped(PAGE)
    assert packed == files.gzipped(PAGE)
    assert gzip.decompress(packed.data) == PAGE
    assert packed.checksum == files.sha256(packed.data)
    assert packed.content_sha256 == files.sha256(PAGE)


@pytest.mark.parametrize("size", [1, 1000, 1_000_000])
@pytest.mark.parametrize("content", [b"", b"x", PAGE], ids=["empty", "one", "page"])
def test_pieces_unpack_to_the_whole(content: bytes, size: int) -> None:
    """However the bytes are cut, the content is the same."""
    data = files.gzipped(content).data
    assert b"".join(files.gunzipped_chunks(pieces(data, size))) == content
    assert files.gunzipped(data) == content


def test_joined_files_are_one() -> None:
    """Gzip files one behind the other unpack to all of their content; a bomb is never held whole."""
    data = files.gzipped(b"one").data + files.gzipped(b"two").data
    assert files.gunzipped(data) == b"".join(files.gunzipped_chunks(pieces(data, 5))) == b"onetwo"
    bomb = files.gzipped(bytes(50_000_000)).data
    assert max(map(len, files.gunzipped_chunks([bomb]))) <= 1024 * 1024


WHOLE = files.gzipped(PAGE).data


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no gzip at all", "no gzip file"), (b"", "cut short"), (WHOLE[:-9], "cut short"),
        (WHOLE + b"tail", "no gzip file"), (WHOLE[:-8] + bytes(8), "no gzip file"),  # a wrong checksum
    ],
    ids=["text", "nothing", "cut", "tail", "checksum"],
)  # fmt: skip
def test_damaged_file_is_an_integrity_error(data: bytes, why: str) -> None:
    """What does not unpack is said so, and nothing is made up."""
    with pytest.raises(IntegrityError, match=why):
        files.gunzipped(data)


def test_content_over_the_limit_is_refused() -> None:
    """The limit counts unpacked bytes."""
    data = files.gzipped(PAGE).data
    assert files.gunzipped(data, len(PAGE)) == PAGE
    with pytest.raises(IntegrityError, match="more than is allowed"):
        files.gunzipped(data, len(PAGE) - 1)
