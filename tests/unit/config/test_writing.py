"""A setting that a command writes into `.env`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.config.writing import write_setting
from crawler.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "HTML_RETENTION_DAYS"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, in one of whose folders somebody stands."""
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "HTML_RETENTION_DAYS=3\n"),
        ("", "HTML_RETENTION_DAYS=3\n"),
        ("# mine\nLOG_LEVEL=INFO", "# mine\nLOG_LEVEL=INFO\nHTML_RETENTION_DAYS=3\n"),
        ("A=1\n  html_retention_days = 9 # why\nB=2\n", "A=1\nHTML_RETENTION_DAYS=3\nB=2\n"),
        (f"{NAME}=1\n{NAME}=2\n", f"{NAME}=1\n{NAME}=3\n"),
        (f"# {NAME}=1\n", f"# {NAME}=1\n{NAME}=3\n"),
    ],
)
def test_one_line_changes(folder: Path, before: str | None, after: str) -> None:
    """That which says it last, or one more; all others stay, and so does who may read the file."""
    path = folder / ".env"
    if before is not None:
        path.write_text(before, encoding="utf-8")
        path.chmod(0o640)
    assert write_setting(NAME, "3") == path
    assert path.read_text(encoding="utf-8") == after
    assert path.stat().st_mode & 0o777 == (0o640 if before is not None else 0o600)
    assert {each.name for each in folder.iterdir()} == {".env", "scrapy.cfg", "below"}


def test_what_would_not_count_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that the setting does not take, and one that the environment says otherwise."""
    with pytest.raises(ConfigError, match="HTML_RETENTION_DAYS is '0'"):
        write_setting(NAME, "0")
    monkeypatch.setenv(NAME, "30")
    with pytest.raises(ConfigError, match="the environment says HTML_RETENTION_DAYS=30"):
        write_setting(NAME, "3")
    assert not (folder / ".env").exists()


def test_a_file_that_is_no_text_stays(folder: Path) -> None:
    """As it was."""
    (folder / ".env").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"\.env is no UTF-8 text"):
        write_setting(NAME, "3")
    assert (folder / ".env").read_bytes() == b"\xff\xfe"
