"""A window that a page opened loads nothing, and is closed; the page itself stays."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Error

from crawler.rendering.contexts import prepare
from tests.unit.components import awaited


class Context:
    """Stands for a browsing context; remembers what it was told."""

    def __init__(self) -> None:
        self.scripts: list[str] = []
        self.routes: dict[str, Any] = {}
        self.handlers: dict[str, Any] = {}

    async def add_init_script(self, text: str) -> None:
        """Runs in each page."""
        self.scripts.append(text)

    async def route(self, pattern: str, handler: Any) -> None:
        """Has requests go through it."""
        self.routes[pattern] = handler

    def on(self, event: str, handler: Any) -> None:
        """Hears of something."""
        self.handlers[event] = handler


class Opened:
    """A page that another one opened, or nobody; a route that may be gone."""

    def __init__(self, opener: object = None, error: Error | None = None) -> None:
        self.from_page, self.error, self.did = opener, error, list[str]()

    async def opener(self) -> object:
        """Who opened it."""
        return self.from_page

    async def close(self) -> None:
        """It is gone."""
        self.did.append("closed")
        if self.error:
            raise self.error

    async def abort(self) -> None:
        """The request comes to nothing."""
        self.did.append("aborted")
        if self.error:
            raise self.error


@pytest.fixture
def context() -> Context:
    """One that was prepared."""
    made: Any = Context()
    awaited(prepare(made))
    return made  # type: ignore[no-any-return]


@pytest.mark.parametrize("error", [None, Error("it is gone")])
def test_what_a_page_opened_is_closed(context: Context, error: Error | None) -> None:
    """Though it may be gone by itself; a page that nobody opened is ours."""
    popup, own = Opened(object(), error), Opened(None)
    for page in (popup, own):
        awaited(context.handlers["page"](page))
    assert (popup.did, own.did) == (["closed"], [])


@pytest.mark.parametrize("error", [None, Error("it is gone")])
def test_it_loads_nothing(context: Context, error: Error | None) -> None:
    """Whatever it asks for."""
    route = Opened(error=error)
    awaited(context.routes["**/*"](route))
    assert route.did == ["aborted"]


def test_scripts_are_called_where_they_stand(context: Context) -> None:
    """Before a page's own."""
    assert len(context.scripts) == 2
    assert all(text.rstrip().endswith(")()") for text in context.scripts)
