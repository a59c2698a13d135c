"""Find Chromium, or install it: Debian's package where that is ours to do, else Playwright's download."""

from __future__ import annotations

from crawler import interrupts

if __name__ == "__main__":
    interrupts.end_at_once()

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from crawler.config import load_settings
from crawler.errors import CrawlerError
from crawler.rendering.chromium import DEBIAN_PACKAGES, find_chromium, install_command

APT = ("apt-get", "-o", "DPkg::Lock::Timeout=300")
INSTALL = (*APT, "install", "--yes", "--no-install-recommends", *DEBIAN_PACKAGES)
MINUTES = 10


def found_or_installed() -> Path | None:
    """The program's path, once it is there."""
    given = load_settings().chromium_path
    if found := find_chromium(given):
        return found
    # The test runs of one machine come here together; the second finds what the first has brought.
    lock = Path(tempfile.gettempdir()) / f"vitrine-chromium-{os.geteuid()}.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not find_chromium():
            _install()
        return find_chromium()


def _install() -> None:
    may_apt = os.geteuid() == 0 and shutil.which("apt-get")
    if may_apt and (_done(INSTALL) or (_done((*APT, "update")) and _done(INSTALL))):
        return
    _done((sys.executable, "-m", "playwright", "install", "chromium"))


def _done(command: tuple[str, ...]) -> bool:
    """Whether it went well; what it says goes to our errors."""
    print("installing Chromium:", " ".join(command), file=sys.stderr)
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=MINUTES * 60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"that failed: {error}", file=sys.stderr)
        return False
    return done.returncode == 0


def main() -> int:
    """Print its path, or how to come by it and exit 1."""
    try:
        found = found_or_installed()
    except CrawlerError as error:
        print(f"error[{error.code}]: {error}\nhint: {error.hint}", file=sys.stderr)
        return error.exit_code
    if found is None:
        print(f"error: no Chromium, and none could be installed\nhint: {install_command()}", file=sys.stderr)
        return 1
    print(found)
    return 0


if __name__ == "__main__":
    sys.exit(interrupts.run(main))
