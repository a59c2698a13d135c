"""Which Chromium is used, and what is said where there is none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from crawler.errors import ConfigError
from crawler.rendering.chromium import find_chromium, install_command, launch_options

if TYPE_CHECKING:
    from pathlib import Path


def program(path: Path) -> Path:
    """A file that may be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    return tmp_path


def test_the_operators_word_comes_first_then_the_path_then_playwrights_newest(bare: Path) -> None:
    """And a machine without any has none."""
    assert find_chromium() is None
    old = program(bare / ".cache/ms-playwright/chromium-999/chrome-linux/chrome")
    assert find_chromium() == old
    new = program(bare / ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome")
    assert find_chromium() == new
    on_path = program(bare / "bin/chromium-browser")
    assert find_chromium() == on_path
    named = program(bare / "mine")
    assert find_chromium(str(named)) == named


@pytest.mark.parametrize("given", ["/nowhere/chromium", "/"])
def test_a_wrong_word_of_the_operator_is_an_error(given: str) -> None:
    """No other browser is taken in its place."""
    with pytest.raises(ConfigError, match="no program there"):
        find_chromium(given)


def test_the_command_that_brings_one_fits_the_machine(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's package where there is apt, through sudo for who is not root; else Playwright's download."""
    assert install_command().endswith("-m playwright install chromium")
    program(bare / "bin/apt-get")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert install_command() == "apt-get install --yes chromium fonts-liberation"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert install_command() == "sudo apt-get install --yes chromium fonts-liberation"
    assert launch_options(bare)["chromium_sandbox"] is True
