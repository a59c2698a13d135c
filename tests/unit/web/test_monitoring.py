"""What the files of `deploy/` ask Prometheus for is what the web side tells it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.programs.packages import unpacked
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served

FOLDER = Path(__file__).parents[3] / "deploy"
ALERTS, DASHBOARD = FOLDER / "alerts.yaml", FOLDER / "dashboard.json"
AS_ADMIN = {"X-Admin-Token": TOKEN}


@pytest.fixture(scope="session")
def promtool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prometheus's own checker: installed, or out of Debian's package, unpacked and not installed."""
    found = unpacked("prometheus", "usr/bin/promtool", tmp_path_factory.mktemp("prometheus"))
    if found is None:
        pytest.skip("promtool is not to be had here")
    return Path(found)


def test_everything_that_is_asked_for_is_told(served: Served) -> None:
    """A renamed metric is an alert that never fires."""
    told = served.get("/metrics", headers=AS_ADMIN).text
    families = set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))
    asked = set(re.findall(r"\bvitrine_\w+", ALERTS.read_text("utf-8") + DASHBOARD.read_text("utf-8")))
    assert len(asked) > 15
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in asked} - families == set()


def test_the_dashboard_can_be_read() -> None:
    """Each panel has a title, a place of its own, and a question."""
    document = json.loads(DASHBOARD.read_text("utf-8"))
    places = [tuple(panel["gridPos"][each] for each in "xywh") for panel in document["panels"]]
    assert len(set(places)) == len(places) > 10
    assert all(x + w <= 24 for x, _, w, _ in places)
    assert all(panel["title"] and panel["targets"][0]["expr"] for panel in document["panels"])
    assert len({panel["id"] for panel in document["panels"]}) == len(places)


@pytest.mark.soak
def test_promtool_finds_nothing_wrong(served: Served, promtool: Path) -> None:
    """Neither with what is told nor with the alerts."""
    served.get("/api/search?q=x")
    told = served.get("/metrics", headers=AS_ADMIN).content
    checked = subprocess.run([promtool, "check", "metrics"], input=told, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
    rules = subprocess.run([promtool, "check", "rules", ALERTS], capture_output=True, check=False)
    assert (rules.returncode, rules.stderr) == (0, b"")
