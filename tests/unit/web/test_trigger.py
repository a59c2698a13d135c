"""The cleanup on the back of requests (SPEC E111, E113): asked for behind an answer, and never in its way."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from crawler.config.settings import load_settings
from crawler.retention import cleanup
from crawler.web.trigger import Trigger

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from crawler.stores import Stores

LOST = OSError("the volume is away")


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that answers everything."""
    await send({"type": "http.response.body", "body": scope["path"].encode()})


def answered(path: str, *, enabled: bool) -> list[dict[str, Any]]:
    """What somebody who asks for the path gets; everything that was begun is over then."""
    sent: list[dict[str, Any]] = []

    async def keep(message: Any) -> None:  # ruff: ignore[unused-async] - as such apps call it
        sent.append(message)

    async def ask() -> None:
        stores = SimpleNamespace(
            settings=load_settings({"retention_cleanup_enabled": enabled}), database=None, blobs=None
        )
        await Trigger(answer, cast("Stores", stores))({"type": "http", "path": path}, cast("Any", None), keep)
        await asyncio.get_running_loop().shutdown_default_executor()

    with ThreadPoolExecutor(1) as beside:  # the tests have a loop of their own in this thread
        beside.submit(lambda: asyncio.run(ask())).result()
    return sent


@pytest.fixture
def chances(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads in which somebody asked whether it is time; it always is, and the cleanup fails."""
    asked: list[str] = []

    def claim(_: object) -> bool:
        asked.append(threading.current_thread().name)
        raise LOST

    monkeypatch.setattr("crawler.retention.cleanup.claim_hour", claim)
    monkeypatch.setattr(cleanup.maybe_clean_up, "__defaults__", (lambda: 0.0,))
    return asked


@pytest.mark.parametrize("path", ["/admin/retention", "/api/health"])
def test_an_answer_comes_whatever_becomes_of_the_cleanup(chances: list[str], path: str) -> None:
    """In another thread, and its error reaches nobody."""
    assert answered(path, enabled=True)[-1]["body"] == path.encode()
    assert len(chances) == 1
    assert chances != [threading.current_thread().name]


@pytest.mark.parametrize(("path", "enabled"), [("/search", True), ("/api/health", False)])
def test_nobody_asks_where_it_is_off_or_on_other_ways(
    chances: list[str], path: str, *, enabled: bool
) -> None:
    """Pages for readers never begin one; nor does anything, as the settings come."""
    assert answered(path, enabled=enabled)[-1]["body"] == path.encode()
    assert chances == []
