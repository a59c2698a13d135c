"""What test processes that run side by side share: one PostgreSQL, started before any of them.

It belongs to the process that starts the others (`pytest -n`), so it outlives each of them and ends with the
run. A Redis is too cheap to be shared, and tests kill it or flush it: each process starts its own.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.embedded.binaries import MissingServerError, redis_server
from tests.embedded.postgresql import own_postgresql
from tests.embedded.process import ServerError

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

URL_KEY, MISSING_KEY = "postgresql", "postgresql_missing"
SHARED: pytest.StashKey[dict[str, str]] = pytest.StashKey()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Have the servers' programs and one PostgreSQL before the first process asks for them."""
    with suppress(MissingServerError):
        redis_server()  # that the processes do not all install it at once
    stack = ExitStack()
    config.add_cleanup(stack.close)
    config.stash[SHARED] = {} if os.environ.get("TEST_DATABASE_URL") else _started(stack)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """Tell a test process where the PostgreSQL is, or why there is none."""
    node.workerinput.update(node.config.stash[SHARED])


def shared_postgresql(config: pytest.Config) -> str | None:
    """The URL that this process was told; None where it runs alone."""
    told: dict[str, str] = getattr(config, "workerinput", {})
    if MISSING_KEY in told:
        raise MissingServerError(told[MISSING_KEY])
    return told.get(URL_KEY)


def own_part(redis_url: str) -> str:
    """The database of a given Redis that is this test process's: each further process has the next one."""
    parts = urlsplit(redis_url)
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return urlunsplit(parts._replace(path=f"/{int(parts.path.strip('/') or 0) + worker}"))


def _started(stack: ExitStack) -> dict[str, str]:
    try:
        return {URL_KEY: stack.enter_context(own_postgresql())}
    except MissingServerError as error:
        return {MISSING_KEY: str(error)}
    except ServerError as error:
        pytest.exit(str(error), returncode=1)
