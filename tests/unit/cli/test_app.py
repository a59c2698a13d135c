"""The frame of all commands: errors in two lines, exit codes that tell the truth."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from crawler.cli import app as cli
from crawler.errors import IntegrityError, LockedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.cli.conftest import Vitrine

ROOT = Path(__file__).parents[3]
PAGE = "tests/contract/pdp/lt-category/page.html"

WRONG = [
    (("crwl",), "No such command 'crwl'. Did you mean 'crawl'?"),
    (("sessions", "lst"), "No such command 'lst'. Did you mean 'list'?"),
    (("sessions", "list", "--jsn"), "No such option: --jsn (Possible options: --json, --jsonl, --since)"),
    (("sessions", "show"), "Missing argument 'session'"),
    (("db",), "the command is not complete"),
]


def failing(error: BaseException) -> Callable[..., None]:
    """A command line that comes to an error."""

    def app(*_args: object, **_options: object) -> None:
        raise error

    return app


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=lambda value: " ".join(value)[:30])
def test_wrong_usage_is_two_lines(vitrine: Vitrine, arguments: tuple[str, ...], message: str) -> None:
    """What is wrong, with what may have been meant, and where to look; exit code 2."""
    done = vitrine(*arguments)
    assert done.code == 2
    found = re.search(r"error\[usage\]: (.*)\nhint: `(vitrine.*) --help` tells what it takes\n$", done.err)
    assert found
    assert found[1] == message
    # the innermost command that there is
    assert f"vitrine {' '.join(arguments)} ".startswith(f"{found[2]} ")


def test_a_wrong_setting_is_two_lines(vitrine: Vitrine) -> None:
    """Exit code 2, and standard output stays clean for whoever reads it."""
    done = vitrine("sessions", "list", "--json", HTML_RETENTION_DAYS="0")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "error[config]: HTML_RETENTION_DAYS is '0'; it takes a whole number of days from 1 to 36500\n"
        "hint: the default is 14; see docs/settings.md\n"
    )


ENDS = [
    (LockedError("a.example is held", hint="wait"), 5, "error[locked]: a.example is held\nhint: wait\n"),
    (IntegrityError("the file differs"), 6, "error[integrity]: the file differs\n"),
    (LockedError("redis://:geheim@h/0 is held"), 5, "error[locked]: redis://:***@h/0 is held\n"),
    (
        RuntimeError("no answer from redis://:geheim@h/0"), 1,
        (
            "error[internal]: RuntimeError: no answer from redis://:***@h/0\n"
            "hint: `vitrine --debug …` shows where it happened\n"
        ),
    ),
    (
        PermissionError(13, "Permission denied", "/srv/v"), 1,
        "error[file]: /srv/v: Permission denied\nhint: check the path, and who may use it\n",
    ),
    (KeyboardInterrupt(), 130, ""),
    (typer.Abort(), 130, ""),
]  # fmt: skip


@pytest.mark.parametrize(("error", "code", "lines"), ENDS)
def test_every_error_has_its_exit_code_and_its_lines(
    vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, lines: str
) -> None:
    """Without a password, and with the way to the traceback where nobody foresaw it."""
    monkeypatch.setattr(cli, "_app_for", lambda _: failing(error))
    done = vitrine("sessions", "list")
    assert (done.code, done.err) == (code, lines)


def test_debug_shows_the_traceback(vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without passwords, before the lines, and with the same exit code."""
    monkeypatch.setattr(cli, "_app_for", lambda _: failing(LockedError("redis://:geheim@h/0 is held")))
    done = vitrine("--debug", "sessions", "list")
    assert done.code == 5
    assert done.err.startswith("Traceback (most recent call last):\n")
    assert done.err.endswith("error[locked]: redis://:***@h/0 is held\n")
    assert "geheim" not in done.err


def test_a_broken_pipe_is_no_failure() -> None:
    """Whoever stops reading, as `head` does, has seen enough: exit code 0, not a word."""
    process = subprocess.Popen(
        [sys.executable, "-m", "crawler.cli", "pdp", "check", "--json", "-"], cwd=ROOT,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait() == 0


def test_an_output_on_a_full_disk_is_told() -> None:
    """It is no success, and no fault of the program."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "crawler.cli", "pdp", "check", "--json", PAGE], cwd=ROOT,
            stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    told = (
        "error[file]: not everything could be written: No space left on device\n"
        "hint: make room where it writes, or where its output goes\n"
    )
    assert (done.returncode, done.stderr) == (1, told)
