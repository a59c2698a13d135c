"""One demo for all tests of this folder, as good as new for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.demo import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.demo import DemoServer


@pytest.fixture(scope="session")
def running() -> Iterator[DemoServer]:
    """A demo with three bulk shops, for the whole run of the tests."""
    with serve(bulk=3) as server:
        yield server


@pytest.fixture
def demo(running: DemoServer) -> DemoServer:
    """The same demo, without a memory of the tests before."""
    running.forget()
    return running
