"""What a bucket's errors become: a file that is missing, a store that is away, and never a half answer."""

from __future__ import annotations

from typing import Any

import obstore
import pytest
from obstore.exceptions import GenericError, PermissionDeniedError
from obstore.store import MemoryStore

from crawler.config import load_settings
from crawler.evidence.blobs import (
    MARK,
    BlobExistsError,
    StoreUnavailableError,
)
from crawler.evidence.object_store import ObjectStore, open_bucket


@pytest.fixture
def bucket() -> ObjectStore:
    """One in memory."""
    return ObjectStore(MemoryStore(), shown="s3://bucket/x")  # type: ignore[arg-type]


def test_a_name_that_is_taken_is_told_from_a_store_that_is_away(
    bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is somebody's file; the second is waited for."""
    bucket.publish("a", b"1")
    with pytest.raises(BlobExistsError):
        bucket.publish("a", b"2")
    assert bucket.read("a") == b"1"

    def away(*_: Any, **__: Any) -> None:
        raise GenericError("no route\nto host, with key AKIA")

    monkeypatch.setattr(obstore, "put", away)
    with pytest.raises(StoreUnavailableError, match=r"does not answer: no route$"):
        bucket.publish("b", b"1")


def test_a_server_that_refuses_some_is_asked_for_each(
    bucket: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer to all of them does not say which."""
    real = obstore.delete

    def delete(store: Any, uris: Any) -> None:
        if not isinstance(uris, str):
            raise GenericError("some were refused")
        if uris == "b":
            raise PermissionDeniedError("held")
        real(store, uris)

    for name in ("a", "b"):
        bucket.publish(name, b"1")
    monkeypatch.setattr(obstore, "delete", delete)
    found = {each.uri: each.error for each in bucket.delete_all(["a", "b"])}
    assert (found["a"], str(found["b"])) == (None, "b: held")
    assert [each.uri for each in bucket.entries()] == ["b"]


def test_the_mark_is_no_evidence(bucket: ObjectStore) -> None:
    """It is not listed, whatever is asked for."""
    for name in (MARK, "a/b.html.gz", "c.png"):
        bucket.publish(name, b"1")
    assert sorted(each.uri for each in bucket.entries()) == ["a/b.html.gz", "c.png"]
    assert [each.uri for each in bucket.entries((".gz",))] == ["a/b.html.gz"]


def test_a_bucket_is_opened_as_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain HTTP only where it is said; no key of ours where the machine has its own."""
    made: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    monkeypatch.setattr(
        "crawler.evidence.object_store.S3Store", lambda *args, **more: made.append((args, more))
    )
    keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "geheim", "AWS_REGION": "eu"}
    open_bucket(
        "s3://shop", load_settings({"AWS_ACCESS_KEY_ID": "", "AWS_ENDPOINT_URL": "", "AWS_REGION": ""})
    )
    open_bucket("s3://shop/a/b/", load_settings({"AWS_ENDPOINT_URL": "http://127.0.0.1:9000", **keys}))
    [plain, own] = made
    assert (plain[0], plain[1]["prefix"], plain[1]["config"]) == (("shop",), None, {})
    assert "allow_http" not in plain[1]["client_options"]
    assert (own[1]["prefix"], own[1]["client_options"]["allow_http"]) == ("a/b", True)
    assert own[1]["config"]["secret_access_key"] == "geheim"
