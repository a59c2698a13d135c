"""A browser is started where one is needed, given up when it is dead, and let go whatever state it is in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from playwright.async_api import Error
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from crawler.errors import ConfigError
from crawler.rendering import program as programs
from crawler.rendering.failures import NoBrowserError
from crawler.rendering.program import Program
from tests.unit.components import awaited


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
    """Only its contexts have ways out."""
    context(program)
    assert program.config.launch_options["proxy"] == {"server": "http://nowhere"}


def test_a_browser_that_does_not_start_is_tried_once_more(program: Any) -> None:
    """With another driver; then its pages have failed for it, in one line."""
    program._maybe_launch_browser.side_effect = [Error("too slow"), None]
    context(program)
    program._maybe_launch_browser.side_effect = Error("no such library\nof a long list")
    with pytest.raises(NoBrowserError, match=r"does not start: no such library$"):
        context(program)
    assert program.config.launch_options == {}


def test_a_machine_without_a_browser(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started, and the hint is told."""

    def missing(_path: str) -> str:
        raise ConfigError("there is none", hint="install it")

    monkeypatch.setattr(programs, "require_chromium", missing)
    with pytest.raises(NoBrowserError, match="install it"):
        context(program)
