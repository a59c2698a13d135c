"""The three stores of the gate, and gates on them that are closed again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.gate.stores import OpenStores

if TYPE_CHECKING:
    from collections.abc import Generator

STORES = {"redis": "redis_database", "sqlite": "sqlite_database", "postgresql": "postgres_database"}


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty store, once of each kind."""
    url: str = request.getfixturevalue(STORES[request.param])
    return url


@pytest.fixture
def stores() -> Generator[OpenStores]:
    """Opens gates; what it opened is closed in the end."""
    with OpenStores() as opened:
        yield opened
