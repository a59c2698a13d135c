"""A store of each kind; the bucket is on a real S3 server of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from crawler.config import load_settings
from crawler.stores import open_blobs
from tests.programs.s3 import make_bucket, own_s3, settings_for

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from crawler.evidence.blobs import BlobStore

    MakeStore = Callable[[str], BlobStore]

KINDS = ("folder", "bucket")


@pytest.fixture(scope="session")
def s3_endpoint() -> Generator[str]:
    """An S3 server for the whole run."""
    with own_s3() as endpoint:
        yield endpoint


@pytest.fixture
def open_place(request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
    """Opens the store of a place; of a folder that is not there, or a bucket that nobody made, as well."""
    if request.param == "folder":
        return lambda place: open_blobs(load_settings({"ARTIFACTS_DIR": str(tmp_path / place)}))
    endpoint: str = request.getfixturevalue("s3_endpoint")

    return lambda place: open_blobs(load_settings(settings_for(endpoint, place)))


@pytest.fixture
def blobs(open_place: MakeStore, request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty store."""
    place = f"place-{uuid4().hex[:12]}"
    if "bucket" in request.node.callspec.params.values():
        make_bucket(request.getfixturevalue("s3_endpoint"), place)
    else:
        (tmp_path / place).mkdir()
    return open_place(place)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test runs on each kind of store."""
    if "open_place" in metafunc.fixturenames:
        metafunc.parametrize("open_place", KINDS, indirect=True)
