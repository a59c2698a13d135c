"""The house itself: what runs here, and whether it works."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from crawler import __version__
from crawler.db.revisions import HEAD

if TYPE_CHECKING:
    from tests.unit.web.conftest import Serve, Served


def test_what_runs_here(serve: Serve) -> None:
    """Versions and ways, no place of this machine and no secret."""
    served = serve(admin_token="canary-token", web_read_only=True, replay_base_url="https://replay.example/")
    found = served.client.get("/-/system.json", headers={"Host": "replay.example"}).json()
    assert (found["version"], found["python"]) == (__version__, platform.python_version())
    assert (found["database_revision"], found["database_answers"]) == (HEAD, True)
    assert (found["read_only"], found["replay_origin"]) == (True, "https://replay.example")
    assert "scrapy" in found["libraries"]
    assert "canary-token" not in str(found)
    assert str(served.stores.settings.vitrine_home) not in str(found)


def test_a_database_that_is_gone_is_told(served: Served) -> None:
    """On a page that can be had all the same."""
    served.database.close()
    assert served.database.path
    served.database.path.unlink()
    served.database.path.mkdir()
    answer = served.get("/-/system.json")
    assert (answer.status_code, answer.json()["database_answers"]) == (200, False)
