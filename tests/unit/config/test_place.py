"""Settings start from the project's folder, wherever cron or a shell may stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler import egg
from crawler.config.loading import load_settings, unknown_settings
from crawler.config.place import env_file, project_folder, unread_env_file


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in whose inner folder we stand; a clone that has none."""
    inner = tmp_path / "project" / "one" / "two"
    inner.mkdir(parents=True)
    (tmp_path / "scrapy.cfg").rename(tmp_path / "project" / "scrapy.cfg")
    monkeypatch.chdir(inner)
    monkeypatch.setattr(egg, "ORIGIN", tmp_path / "clone")
    return tmp_path / "project"


def test_the_closest_project_upwards(project: Path) -> None:
    """A folder of that name is none."""
    assert project_folder() == project
    (project / "one" / "scrapy.cfg").mkdir()
    assert project_folder() == project
    (project / "one" / "two" / "scrapy.cfg").touch()
    assert project_folder() == Path.cwd()


def test_without_one_the_clone_and_without_that_the_user_s_own(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is installed and runs outside of a project leaves nothing in the folder where somebody stands."""
    (project / "scrapy.cfg").unlink()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    own = tmp_path / ".local/share/vitrine"
    assert project_folder() == own
    assert (load_settings().vitrine_home, load_settings().sources_file) == (own / "var", own / "sources.toml")
    own.mkdir(parents=True)
    (own / ".env").write_text("HTML_RETENTION_DAYS=9\n", encoding="utf-8")
    assert load_settings().html_retention_days == 9
    monkeypatch.setenv("HTML_RETENTION_DAYS", "")
    assert load_settings().html_retention_days == 9  # an empty variable says nothing
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert project_folder() == tmp_path / "data" / "vitrine"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert project_folder() == own
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "scrapy.cfg").touch()
    assert project_folder() == tmp_path / "clone"


def test_a_file_that_nobody_reads_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one stands, and the project's is another."""
    assert (env_file(), unread_env_file()) == (project / ".env", None)
    Path(".env").touch()
    assert unread_env_file() == Path.cwd() / ".env"
    monkeypatch.chdir(project)
    Path(".env").touch()
    assert unread_env_file() is None


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("VITRINE_HOME=data", "vitrine_home", "PROJECT/data"),
        ("VITRINE_HOME=/srv/data", "vitrine_home", "/srv/data"),
        ("ARTIFACTS_DIR=s3://bucket/x", "artifacts_dir", "s3://bucket/x"),
        ("WARC_DIR=../warcs", "warc_dir", "PROJECT/../warcs"),
        ("DATABASE_URL=sqlite:///x.db", "database_url", "sqlite:///PROJECT/x.db"),
        ("DATABASE_URL=sqlite:////srv/x.db", "database_url", "sqlite:////srv/x.db"),
        ("DATABASE_URL=postgresql://h/x", "database_url", "postgresql://h/x"),
        ("REDIS_URL=redis://h/0", "redis_url", "redis://h/0"),
        ("VITRINE_HOME=", "vitrine_home", "PROJECT/var"),
    ],
)
def test_paths_in_the_file_start_from_where_it_lies(project: Path, line: str, name: str, value: str) -> None:
    """What is no relative path stays as it is."""
    (project / ".env").write_text(line + "\n", encoding="utf-8")
    assert str(getattr(load_settings(), name)) == value.replace("PROJECT", str(project))


def test_what_is_no_setting_is_told_with_what_may_be_meant(project: Path) -> None:
    """Of the file alone: the environment is everybody's."""
    (project / ".env").write_text("SESIONS_AT_ONCE=3\nPATHETIC=1\nredis_url=redis://h/0\n", encoding="utf-8")
    assert unknown_settings() == {"PATHETIC": "", "SESIONS_AT_ONCE": "SESSIONS_AT_ONCE"}
