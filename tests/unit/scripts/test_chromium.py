"""Chromium is found, or brought, or its absence is told."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from scripts import chromium


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A machine with nothing on it; what is tried there in vain."""
    commands: list[str] = []
    monkeypatch.setattr(chromium, "find_chromium", lambda _given="": None)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))

    def failed(command: tuple[str, ...]) -> bool:
        commands.append(" ".join(command[-2:]))
        return False

    monkeypatch.setattr(chromium, "_done", failed)
    return commands


def test_root_of_a_debian_tries_its_package_first(
    tried: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once more after the lists of packages were fetched; then Playwright; then it says how."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _name: "/usr/bin/apt-get")
    assert chromium.main() == 1
    assert tried == ["chromium fonts-liberation", "DPkg::Lock::Timeout=300 update", "install chromium"]
    assert "hint: apt-get install --yes chromium" in capsys.readouterr().err


def test_anyone_else_can_only_have_playwrights(tried: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages are root's."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert chromium.main() == 1
    assert tried == ["install chromium"]


def test_what_is_there_is_not_installed_again(
    tried: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its path is the whole answer."""
    monkeypatch.setattr(chromium, "find_chromium", lambda _given="": Path("/usr/bin/chromium"))
    assert chromium.main() == 0
    assert capsys.readouterr().out == "/usr/bin/chromium\n"
    assert tried == []
