"""`vitrine demo`: its own folder, and nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import typer

from crawler.cli.demo import MARKER, _exit_code, _fresh_folder, demo_environment
from crawler.demo import NETWORK

if TYPE_CHECKING:
    from pathlib import Path


def test_no_setting_leads_out_of_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What the operator set is hidden, in whatever case; what is not ours stays."""
    monkeypatch.setenv("DATABASE_URL", "postgresql://h/real")
    monkeypatch.setenv("redis_url", "redis://h/0")
    monkeypatch.setenv("LANG_OF_MINE", "de")
    environment = demo_environment(tmp_path)
    assert (environment["DATABASE_URL"], environment["REDIS_URL"]) == ("", "")
    assert "redis_url" not in environment
    assert (environment["VITRINE_HOME"], environment["EGRESS_ALLOW"]) == (str(tmp_path), NETWORK)
    assert environment["LANG_OF_MINE"] == "de"


def test_the_folder_is_emptied_only_where_it_is_a_demos(tmp_path: Path) -> None:
    """Somebody's files are never taken for it."""
    folder = _fresh_folder(tmp_path / "demo")
    (folder / "old").touch()
    assert [path.name for path in _fresh_folder(folder).iterdir()] == [MARKER]
    (folder / MARKER).unlink()
    (folder / "mine").touch()
    with pytest.raises(typer.BadParameter):
        _fresh_folder(folder)
    assert (folder / "mine").exists()


def test_visits_that_are_missing_are_a_failure() -> None:
    """Fewer sessions than shops is never well."""
    assert _exit_code([], {}) == 0
    assert _exit_code([], {"u": None}) == 1  # type: ignore[dict-item]
