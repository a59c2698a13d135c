"""Whether the service works, for whoever watches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


def test_a_database_that_is_gone_is_told(served: Served) -> None:
    """The health check fails with the body that is promised (SPEC 71)."""
    served.database.close()
    assert served.database.path
    served.database.path.unlink()
    served.database.path.mkdir()
    response = served.get("/api/health")
    assert response.status_code == 500
    assert response.json() == {"status": "error", "checks": {"db": "error"}}
