"""Which Chromium a crawl may use, how it is started, how to come by one. Nothing here loads Playwright."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
# Fonts are named because Debian only recommends them, and a page without fonts is a page of boxes.
DEBIAN_PACKAGES = ("chromium", "fonts-liberation")
# What a browser does of its own accord: talk to its vendor, update itself, ask, remember.
QUIET_FLAGS = (
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--disable-features=OptimizationHints,Translate,MediaRouter,AutofillServerCommunication",
)


def find_chromium(given: str = "") -> Path | None:
    """The program: the one that the operator names, else one on the PATH, else Playwright's."""
    if given:
        if not os.access(given, os.X_OK) or Path(given).is_dir():
            raise ConfigError(
                f"CHROMIUM_PATH is {given!r}; there is no program there",
                hint="name Chromium's program, or leave it empty to use the one on the PATH",
            )
        return Path(given)
    named = next((found for name in NAMES if (found := shutil.which(name))), None)
    return Path(named) if named else _newest(_playwrights().glob("chromium-*/chrome-linux*/chrome"))


def install_command() -> str:
    """The command that brings Chromium to this machine."""
    if shutil.which("apt-get"):
        return ("" if os.geteuid() == 0 else "sudo ") + "apt-get install --yes " + " ".join(DEBIAN_PACKAGES)
    return f"{sys.executable} -m playwright install chromium"


def launch_options(program: Path, *flags: str) -> dict[str, Any]:
    """Playwright's options that start it, quiet; sandboxed unless it is root's, whom it refuses to shield."""
    return {
        "executable_path": str(program),
        "args": [*QUIET_FLAGS, *flags],
        "chromium_sandbox": os.geteuid() != 0,
    }


def _playwrights() -> Path:
    """The folder of Playwright's own downloads."""
    given = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    return Path(given) if given else Path.home() / ".cache" / "ms-playwright"


def _newest(found: Iterable[Path]) -> Path | None:
    return max(found, key=lambda path: int(path.parents[1].name.rpartition("-")[2]), default=None)
