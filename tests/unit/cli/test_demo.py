"""`vitrine demo`: its own folder, and nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.cli.demo import demo_environment
from crawler.demo import NETWORK

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.unit.cli.conftest import Vitrine


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


def test_a_folder_with_other_files_is_not_emptied(vitrine: Vitrine, tmp_path: Path) -> None:
    """Only one that a demo has marked as its own is."""
    letter = tmp_path / "mine" / "letter"
    letter.parent.mkdir()
    letter.touch()
    assert vitrine("demo", "--home", str(letter.parent)).code == 2
    assert letter.exists()
