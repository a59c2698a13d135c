"""Runs command lines in this process, in an empty folder."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from attrs import frozen
from typer.main import get_command

from crawler.cli.app import app, run
from crawler.config import Settings

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@frozen
class Done:
    """What a command line came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON on standard output; nothing else may stand there."""
        return json.loads(self.out)


class Vitrine(Protocol):
    """Runs `vitrine`; keywords are environment variables."""

    def __call__(self, *arguments: str, **environment: str) -> Done:
        """Run it to its end."""


@cache
def _command(_registered: tuple[str | None, ...]) -> object:
    """What Typer makes of all that is registered: a program needs it once, and tests many times."""
    return get_command(app)


def _command_of(_app: object) -> object:
    groups = tuple(group.name for group in app.registered_groups)
    return _command(groups + tuple(command.name for command in app.registered_commands))


@contextmanager
def without_loop() -> Generator[None]:
    """Put the reactor's event loop aside, in which tests run: a command may run its own."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


@pytest.fixture
def vitrine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Generator[Vitrine]:
    """The command, with nothing set that the test does not set."""
    monkeypatch.setattr("typer.main.get_command", _command_of)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scrapy.cfg").touch()  # a project of its own
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run_it(*arguments: str, **environment: str) -> Done:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with without_loop():
            code = run(list(arguments))
        out, err = capsys.readouterr()
        return Done(code, out, err)

    yield run_it
    root.handlers[:], root.level = handlers, level


@pytest.fixture
def made(vitrine: Vitrine) -> None:
    """There is a database, and nothing in it."""
    assert vitrine("db", "upgrade").code == 0


@pytest.fixture
def seeded(vitrine: Vitrine) -> Vitrine:
    """The sources that come along are registered."""
    assert vitrine("sources", "seed").code == 0
    return vitrine
