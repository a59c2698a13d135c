"""Settings are read in an empty project, whatever the developer has set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.config import Settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)  # ruff: ignore[pytest-fixture-autouse] - no test here may see the developer's
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder, and an environment without any of our variables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scrapy.cfg").touch()  # a project of its own
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
