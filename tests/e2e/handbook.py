"""The blocks of the handbook, as tests run them: with this machine's folders, in the order of the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from tests.e2e.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.conftest import Home

HANDBOOK = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"([^\n]+(?:\n[^\n]+)*)\n\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@frozen
class Block:
    """Lines to be typed or written, and the paragraph that introduces them."""

    said: str
    text: str


def blocks() -> Iterator[tuple[str, list[Block]]]:
    """The blocks of each section, by its heading."""
    for section in HANDBOOK.split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        yield heading, list(starmap(Block, _BLOCK.findall(text)))


def block(heading: str, number: int) -> str:
    """The text of a section's block."""
    return dict(blocks())[heading][number].text


def run_lines(home: Home, text: str, backup: Path) -> str:
    """Run lines one after the other until one fails, which none may; what they said."""
    script = text.replace("/var/lib/vitrine", str(home.path)).replace("/backup", str(backup))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-ec", script], cwd=ROOT, env={**home.environment, "PATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (script, done.stdout, done.stderr)
    return done.stdout
