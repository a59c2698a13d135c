"""What a log line looks like, and what never stands in one."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, NoReturn

import pytest

from crawler.errors import LockedError
from crawler.logs import JsonFormatter, TextFormatter, configure, formatter_for, get_logger

PLAIN = logging.Formatter("%(levelname)s: %(message)s")


def record(message: str, fields: dict[str, Any] | None = None, *args: object) -> logging.LogRecord:
    """A record as a structured logger, or any other, makes it."""
    made = logging.LogRecord("shop", logging.INFO, __file__, 1, message, args, None)
    if fields is not None:
        made.fields = fields
    return made


def fail(message: str) -> NoReturn:
    """Raise something that nobody foresaw."""
    raise RuntimeError(message)


@pytest.fixture
def lines() -> Any:
    """Log to standard error as commands do, and forget it afterwards."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield configure
    root.handlers[:], root.level = before


def test_a_value_cannot_forge_a_line() -> None:
    """Line ends and the terminal's control characters are escaped."""
    line = TextFormatter(PLAIN).format(record("page.kept", {"title": "a\nERROR: b", "name": "\x1b[2J"}))
    assert line == 'INFO: page.kept title="a\\nERROR: b" name="\\u001b[2J"'


def test_json_is_one_object_a_line() -> None:
    """Time, level, logger and event, and the fields beside them."""
    line = JsonFormatter().format(record("page.kept", {"n": 3, "title": "a\nb"}))
    entry = json.loads(line)
    assert "\n" not in line
    assert entry.pop("time").endswith("+00:00")
    assert entry == {"level": "info", "logger": "shop", "event": "page.kept", "n": 3, "title": "a\nb"}


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_records_of_others_are_redacted(log_format: str) -> None:
    """A library that logs its URL gives nothing away."""
    made = record("connecting to %s", None, "redis://:geheim@host/0")
    line = formatter_for(log_format, PLAIN).format(made)
    assert "geheim" not in line
    assert "redis://:***@host/0" in line


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_tracebacks_are_shown_and_redacted(log_format: str) -> None:
    """The place is told, the password in the error's message is not."""
    made = record("gate.failed")
    try:
        fail("no answer from redis://:geheim@host/0")
    except RuntimeError:
        made.exc_info = sys.exc_info()
    line = formatter_for(log_format, PLAIN).format(made)
    assert "in fail" in line
    assert "redis://:***@host/0" in line
    assert "geheim" not in line


def test_bound_fields_stand_in_every_line(lines: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A session's id and domain are bound once; lines go to standard error."""
    lines("INFO", "json")
    get_logger("shop").bind(session_id="7", domain="a.example").info("page.kept", n=1)
    out, err = capsys.readouterr()
    entry = json.loads(err)
    assert not out
    assert (entry["event"], entry["session_id"], entry["domain"], entry["n"]) == (
        "page.kept",
        "7",
        "a.example",
        1,
    )


@pytest.mark.parametrize(("level", "traced"), [("INFO", False), ("DEBUG", True)])
def test_what_is_known_to_go_wrong_is_a_line(
    lines: Any, capsys: pytest.CaptureFixture[str], level: str, *, traced: bool
) -> None:
    """A full disk or a held lock says so itself; whoever debugs sees where it came from."""
    lines(level, "text")
    for number, error in enumerate((LockedError("shop.example is held"), RuntimeError("nobody foresaw it"))):
        get_logger("shop").error("page.lost", number=number, exc_info=error)
    said = capsys.readouterr().err
    assert ('page.lost number=0 error="shop.example is held"' in said) is not traced
    assert ("LockedError: shop.example is held" in said) is traced
    assert "RuntimeError: nobody foresaw it" in said
