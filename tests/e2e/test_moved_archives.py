"""An archive that was moved is indexed as a whole, or what it lacks is told."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.unit.cli.test_warcs import an_archive

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home


@pytest.mark.parametrize(("lacks", "code", "files"), [([], 0, 4), ([".tmp2"], 3, 3)])
def test_all_of_it_is_indexed(home: Home, tmp_path: Path, lacks: list[str], code: int, files: int) -> None:
    """By a job that is registered where it is now; what is missing is named, and the exit code says so."""
    folder = an_archive(tmp_path / "before").rename(tmp_path / "moved")
    lost = [folder / name for name in lacks]
    for path in lost:
        shutil.rmtree(path)
    for command in (("db", "upgrade"), ("sources", "seed")):
        assert home.vitrine(*command).returncode == 0
    done = home.vitrine("jobs", "register", "--source", "hc", "--output-dir", str(folder))
    assert done.returncode == 0, done.stderr
    done = home.vitrine("jobs", "index", "1", "--json")
    assert done.returncode == code, done.stderr
    document = json.loads(done.stdout)
    assert (document["status"], document["files"], document["pages"]) == ("indexed", files, files)
    assert document["missing"] == list(map(str, lost))
