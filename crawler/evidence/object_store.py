"""Artifacts as objects of an S3 bucket: the promises of the folder, kept by conditional puts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from io import RawIOBase
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from crawler.errors import CrawlerError
from crawler.evidence.blobs import (
    CHUNK_BYTES,
    MARK,
    BlobEntry,
    BlobExistsError,
    BlobMissingError,
    Removal,
    StoreUnavailableError,
    UnsafePathError,
    safe_parts,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from obstore.store import ClientConfig, RetryConfig, S3Config

    from crawler.config import Settings

_LIST_ROWS = 1000
_PUTTERS = 8
_DELETE_ROWS = 1000  # as many as S3 takes in one request
_CLIENT_TIMEOUT = timedelta(seconds=60)
_RETRIES: RetryConfig = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
_HINT = "check ARTIFACTS_DIR, AWS_ENDPOINT_URL, and the credentials"


class ObjectStore:
    """A `BlobStore` on a bucket, below a prefix."""

    def __init__(self, store: S3Store, shown: str) -> None:
        self._store = store
        self.shown = shown

    def publish(self, uri: str, data: bytes) -> None:
        """One conditional put: the server refuses a name that is taken, and shows nothing half written."""
        safe_parts(uri)
        try:
            obstore.put(self._store, uri, data, mode="create", use_multipart=False)
        except AlreadyExistsError:
            raise BlobExistsError(f"{uri} exists already") from None
        except (BaseError, OSError) as error:
            raise _unavailable(error) from error

    def publish_all(self, files: Mapping[str, bytes]) -> None:
        """Side by side, for each put is a round trip; what was put is taken back when one is refused."""
        with ThreadPoolExecutor(_PUTTERS) as putters:
            puts = {uri: putters.submit(self.publish, uri, data) for uri, data in files.items()}
        errors = [put.exception() for put in puts.values()]
        refused = next((error for error in errors if error is not None), None)
        if refused is not None:
            for uri, put in puts.items():
                if put.exception() is None:
                    self.delete(uri)
            raise refused

    def read(self, uri: str) -> bytes:
        """The bytes stored under `uri`."""
        return b"".join(self.stream(uri))

    def stream(self, uri: str) -> Iterator[bytes]:
        """The same, a chunk at a time."""
        safe_parts(uri)
        with _as_store_errors(uri):
            for chunk in obstore.get(self._store, uri).stream(min_chunk_size=CHUNK_BYTES):
                yield bytes(chunk)

    def open(self, uri: str) -> BinaryIO:
        """Open an object, of which only what is asked for is fetched."""
        safe_parts(uri)
        with _as_store_errors(uri):
            size = obstore.head(self._store, uri)["size"]
        return cast("BinaryIO", _ObjectFile(self._store, uri, size))

    def exists(self, uri: str) -> bool:
        """Whether there is an object of that name."""
        safe_parts(uri)
        try:
            with _as_store_errors(uri):
                obstore.head(self._store, uri)
        except BlobMissingError:
            self._require()
            return False
        return True

    def delete(self, uri: str) -> bool:
        """Remove an object; False when there is none."""
        if not self.exists(uri):
            return False
        with _as_store_errors(uri):
            obstore.delete(self._store, uri)
        return True

    def delete_all(self, uris: Iterable[str]) -> Iterator[Removal]:
        """Remove many in one request; S3 does not say which of them were missing before."""
        wanted: list[str] = []
        for uri in uris:
            try:
                safe_parts(uri)
            except UnsafePathError as error:
                yield Removal(uri, error=error)
            else:
                wanted.append(uri)
        for start in range(0, len(wanted), _DELETE_ROWS):
            yield from self._delete_group(wanted[start : start + _DELETE_ROWS])

    def entries(self, endings: tuple[str, ...] = ("",)) -> Iterator[BlobEntry]:
        """All objects below the prefix whose names end in one of these ways."""
        with _as_store_errors("."):
            for group in obstore.list(self._store, chunk_size=_LIST_ROWS):
                for found in (each for each in group if each["path"].endswith(endings)):
                    if found["path"] != MARK:
                        yield BlobEntry(found["path"], found["size"], found["last_modified"])

    def _delete_group(self, uris: Sequence[str]) -> Iterator[Removal]:
        try:
            obstore.delete(self._store, uris)
        except (BaseError, OSError):
            self._require()
            # The server refuses some of them, and the answer does not say which.
            yield from (self._delete_one(uri) for uri in uris)
        else:
            yield from (Removal(uri) for uri in uris)

    def _delete_one(self, uri: str) -> Removal:
        try:
            obstore.delete(self._store, uri)
        except (BaseError, OSError) as error:
            return Removal(uri, error=CrawlerError(f"{uri}: {_first_line(error)}"))
        return Removal(uri)

    def _require(self) -> None:
        """Refuse to call a file missing when it is the bucket that is."""
        with _as_store_errors("."):
            next(iter(obstore.list(self._store, chunk_size=1)), None)


class _ObjectFile(RawIOBase):
    """An object as a file: each read is a request for that range."""

    def __init__(self, store: S3Store, uri: str, size: int) -> None:
        self._store, self._uri, self._size = store, uri, size
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, _whence: int = 0, /) -> int:
        """Set the place that is read next, from the beginning."""
        self._at = offset
        return offset

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Fetch as much as there is room for."""
        length = min(len(buffer), self._size - self._at)
        if length <= 0:
            return 0
        with _as_store_errors(self._uri):
            buffer[:length] = obstore.get_range(self._store, self._uri, start=self._at, length=length)
        self._at += length
        return length


def open_bucket(url: str, settings: Settings) -> ObjectStore:
    """The store that `s3://BUCKET/PREFIX` names; what is not set here comes from the AWS variables."""
    parts = urlsplit(url)
    config: S3Config = {}
    client: ClientConfig = {"timeout": _CLIENT_TIMEOUT}
    if settings.aws_endpoint_url:
        config["endpoint"] = settings.aws_endpoint_url
        client["allow_http"] = settings.aws_endpoint_url.startswith("http://")
    if settings.aws_region:
        config["region"] = settings.aws_region
    if settings.aws_access_key_id:
        config["access_key_id"] = settings.aws_access_key_id.get_secret_value()
        config["secret_access_key"] = settings.aws_secret_access_key.get_secret_value()
    prefix = parts.path.strip("/") or None
    store = S3Store(parts.netloc, prefix=prefix, config=config, client_options=client, retry_config=_RETRIES)
    return ObjectStore(store, shown=url)


@contextmanager
def _as_store_errors(uri: str) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:  # obstore's "not found" is Python's own
        raise BlobMissingError(f"{uri} is not in the artifact store") from None
    except (BaseError, OSError) as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> StoreUnavailableError:
    return StoreUnavailableError(f"the artifact store does not answer: {_first_line(error)}", hint=_HINT)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
