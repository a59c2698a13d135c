"""A browser is started where one is needed, given up when it is dead, and let go whatever state it is in."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from playwright.async_api import Error
from scrapy import Request
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from crawler.errors import ConfigError
from crawler.rendering import program as programs
from crawler.rendering.failures import NoBrowserError
from crawler.rendering.program import CONTEXT, LAUNCHES, Program, in_time, prepare
from tests.unit.components import awaited

DEAD = Error("Target page, context or browser has been closed")


class Wrapper:
    """Stands for a context."""

    context = None


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that has no browser yet; what drives it is none."""
    made: Any = Program.__new__(Program)
    made.shared = SimpleNamespace(settings=SimpleNamespace(chromium_path="/usr/bin/chromium"))
    made.config = SimpleNamespace(launch_options={})
    made.context_wrappers, made.nowhere = {}, None
    made.enclosure = SimpleNamespace(open_door=AsyncMock(return_value=SimpleNamespace(url="http://nowhere")))
    made.browser_provider = SimpleNamespace(close=AsyncMock())
    made._launch, made._maybe_launch_browser = AsyncMock(), AsyncMock()
    made.context_options = lambda name: {"named": name}
    monkeypatch.setattr(programs, "require_chromium", lambda path: path)
    monkeypatch.setattr(programs, "prepare", AsyncMock())
    monkeypatch.setattr(
        ScrapyPlaywrightDownloadHandler, "_create_browser_context", AsyncMock(return_value=Wrapper())
    )
    return made


def context(program: Any) -> Any:
    """A context of it."""
    return awaited(program._create_browser_context("one:desktop", None))


def test_a_browser_is_led_nowhere_of_itself(program: Any) -> None:
    """Only its contexts have ways out; what drives it is started once."""
    for _ in range(3):
        context(program)
    assert program.config.launch_options["proxy"] == {"server": "http://nowhere"}
    assert program._launch.await_count == program.enclosure.open_door.await_count == 1
    assert program._maybe_launch_browser.await_count == 3
    asked: Any = ScrapyPlaywrightDownloadHandler._create_browser_context
    assert asked.await_args.args[:2] == ("one:desktop", {"named": "one:desktop"})


def test_a_browser_that_does_not_start_is_tried_once_more(program: Any) -> None:
    """With another driver; then its pages have failed for it, in one line."""
    program._maybe_launch_browser.side_effect = [Error("too slow"), None]
    context(program)
    assert program._launch.await_count == 2
    program._maybe_launch_browser.side_effect = Error("no such library\nof a long list")
    with pytest.raises(NoBrowserError, match=r"does not start: no such library$"):
        context(program)
    assert program._maybe_launch_browser.await_count == 2 + LAUNCHES
    assert program.config.launch_options == {}


def test_a_machine_without_a_browser(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started, and the hint is told."""

    def missing(_path: str) -> str:
        raise ConfigError("there is none", hint="install it")

    monkeypatch.setattr(programs, "require_chromium", missing)
    with pytest.raises(NoBrowserError, match="install it"):
        context(program)
    assert program._launch.await_count == 0


@pytest.mark.parametrize(("error", "is_let_go"), [(DEAD, True), (Error("Invalid timezone"), False)])
def test_a_context_of_a_dead_browser_lets_go_of_it(
    program: Any, monkeypatch: pytest.MonkeyPatch, error: Error, *, is_let_go: bool
) -> None:
    """The next page starts another; one that is told something odd stays."""
    monkeypatch.setattr(
        ScrapyPlaywrightDownloadHandler, "_create_browser_context", AsyncMock(side_effect=error)
    )
    with pytest.raises(Error):
        context(program)
    assert (program.config.launch_options == {}) is is_let_go
    assert program.browser_provider.close.await_count == int(is_let_go)


@pytest.mark.parametrize(("error", "is_left"), [(DEAD, False), (Error("net::ERR_FAILED"), True)])
def test_a_context_that_is_gone_is_not_asked_again(
    program: Any, monkeypatch: pytest.MonkeyPatch, error: Error, *, is_left: bool
) -> None:
    """Others are not concerned, nor is one by an error that passes."""
    monkeypatch.setattr(ScrapyPlaywrightDownloadHandler, "_create_page", AsyncMock(side_effect=error))
    program.context_wrappers = {"one": Wrapper(), "two": Wrapper()}
    with pytest.raises(Error):
        awaited(program._create_page(Request("https://shop.example/", meta={CONTEXT: "one"}), None))
    assert sorted(program.context_wrappers) == (["one", "two"] if is_left else ["two"])


def test_a_browser_that_went_is_forgotten_and_no_other(program: Any) -> None:
    """What is heard late of an old one takes nothing from the new one."""
    old, new = object(), object()
    program.browser, program.context_wrappers = new, {"one": Wrapper()}
    program._browser_disconnected_callback(old)
    assert (program.browser, list(program.context_wrappers)) == (new, ["one"])
    program._browser_disconnected_callback(new)
    assert (hasattr(program, "browser"), program.context_wrappers) == (False, {})
    program._browser_disconnected_callback(new)


def test_it_is_let_go_whatever_is_broken(program: Any) -> None:
    """A browser that cannot be closed does not keep its driver; letting go twice is letting go."""
    program.browser = SimpleNamespace(close=AsyncMock(side_effect=DEAD))
    program.config.launch_options = {"executable_path": "x"}
    for _ in range(2):
        awaited(program.let_go())
    assert (hasattr(program, "browser"), program.browser_provider.close.await_count) == (False, 1)


def test_what_does_not_close_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it longer than so long; an error of ours is one."""
    monkeypatch.setattr(programs, "CLOSE_SECONDS", 0)
    awaited(in_time(asyncio.sleep(3600)))
    awaited(in_time(AsyncMock(side_effect=DEAD)()))
    with pytest.raises(ZeroDivisionError):
        awaited(in_time(AsyncMock(side_effect=ZeroDivisionError)()))


def test_a_driver_that_ended_is_heard() -> None:
    """So that asyncio does not call it an error; one that keeps it elsewhere is none."""

    async def heed() -> bool:
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        transport = SimpleNamespace(_transport=SimpleNamespace(on_error_future=ended))
        manager: Any = SimpleNamespace(playwright_context_manager=SimpleNamespace(_client=transport))
        programs._heed_death(manager)
        ended.set_exception(DEAD)
        await asyncio.sleep(0)
        return ended._log_traceback

    assert awaited(heed()) is False
    programs._heed_death(object())


# ── a browsing context before its first page: what no page in it may do ──


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
def prepared() -> Context:
    """One that was prepared."""
    made: Any = Context()
    awaited(prepare(made))
    return made  # type: ignore[no-any-return]


@pytest.mark.parametrize("error", [None, Error("it is gone")])
def test_what_a_page_opened_is_closed(prepared: Context, error: Error | None) -> None:
    """Though it may be gone by itself; a page that nobody opened is ours."""
    popup, own = Opened(object(), error), Opened(None)
    for page in (popup, own):
        awaited(prepared.handlers["page"](page))
    assert (popup.did, own.did) == (["closed"], [])


@pytest.mark.parametrize("error", [None, Error("it is gone")])
def test_it_loads_nothing(prepared: Context, error: Error | None) -> None:
    """Whatever it asks for."""
    route = Opened(error=error)
    awaited(prepared.routes["**/*"](route))
    assert route.did == ["aborted"]


def test_scripts_are_called_where_they_stand(prepared: Context) -> None:
    """Before a page's own."""
    assert len(prepared.scripts) == 2
    assert all(text.rstrip().endswith(")()") for text in prepared.scripts)
