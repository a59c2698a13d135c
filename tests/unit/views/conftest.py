"""What tests of views share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.evidence.folder_store import FolderStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def blobs(tmp_path: Path) -> FolderStore:
    """The place of the files."""
    return FolderStore(tmp_path / "artifacts")
