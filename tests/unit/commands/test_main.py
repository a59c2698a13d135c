"""The crawl's own process, from its first moment on."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_an_interruption_while_scrapy_is_loaded_is_silent(tmp_path: Path) -> None:
    """Ctrl-C before there is anything to stop: exit code 130, and no traceback."""
    (tmp_path / "scrapy").mkdir()
    (tmp_path / "scrapy" / "__init__.py").touch()
    interrupts = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "scrapy" / "cmdline.py").write_text(interrupts, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "crawler.commands", "crawl", "pdp"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
