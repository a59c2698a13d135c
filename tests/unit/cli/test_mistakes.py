"""What a user may well do wrong is told in a line and a hint: no traceback, no internal error."""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.cli import app
from crawler.commands.checked import as_options
from crawler.db import engine

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Done, Vitrine

CHECKOUT = Path(__file__).parents[3]


def told(done: Done, code: str) -> str:
    """The error, in one line with one hint behind it."""
    assert "Traceback" not in done.err
    error, hint = done.err.splitlines()[-2:]
    assert error.startswith(f"error[{code}]: ")
    assert hint.startswith("hint: ")
    return error


def test_a_file_that_is_no_database(vitrine: Vitrine) -> None:
    """Such as the artifact that somebody meant to look at."""
    Path("page.gz").write_bytes(os.urandom(4096))
    done = vitrine("sessions", "list", DATABASE_URL="sqlite:///page.gz")
    assert "file is not a database" in told(done, "database_unavailable")
    assert done.code == 1


def test_a_database_of_somebody_elses(vitrine: Vitrine) -> None:
    """It gets none of our tables, whatever is called."""
    with closing(sqlite3.connect("theirs.db")) as database:
        database.execute("CREATE TABLE customers (id)")
    for line in (["sessions", "list"], ["db", "upgrade"]):
        done = vitrine(*line, DATABASE_URL="sqlite:///theirs.db")
        assert "it has customers, and no table of ours" in told(done, "db_revision")
        assert done.code == 2
    with closing(sqlite3.connect("theirs.db")) as database:
        assert database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)


@pytest.mark.usefixtures("made")
def test_a_database_that_another_program_writes(vitrine: Vitrine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waited for, then told as what it is."""
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_SECONDS", 0.1)
    with closing(sqlite3.connect("var/vitrine.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = vitrine("retention", "set", "hauls", "3")
    assert "database is locked" in told(done, "database_unavailable")


@pytest.mark.usefixtures("made")
def test_a_database_that_may_only_be_read(vitrine: Vitrine) -> None:
    """Looking goes, changing is told."""
    where = f"sqlite:///file:{Path('var/vitrine.db').absolute()}?mode=ro&uri=true"
    done = vitrine("retention", "set", "hauls", "3", DATABASE_URL=where)
    assert "readonly database" in told(done, "database_unavailable")


def test_a_server_on_which_one_may_only_read(vitrine: Vitrine, postgres_database: str) -> None:
    """The same of a role, or of a standby."""
    assert vitrine("db", "upgrade", DATABASE_URL=postgres_database).code == 0
    options = "options=-c%20default_transaction_read_only%3Don"
    where = f"{postgres_database}{'&' if '?' in postgres_database else '?'}{options}"
    done = vitrine("retention", "set", "hauls", "3", DATABASE_URL=where)
    assert "read-only transaction" in told(done, "database_unavailable")


@pytest.mark.usefixtures("made")
def test_a_path_that_cannot_be_written(vitrine: Vitrine) -> None:
    """Named, with what is wrong with it."""
    Path("file").touch()
    done = vitrine("pdp", "check", "file/page.html")
    assert (done.code, done.err) == (1, "✗ file/page.html: Not a directory\n")
    assert app._unforeseen(NotADirectoryError(20, "Not a directory", "file/report.md")).code == "file"


@pytest.mark.parametrize(
    "content",
    [
        b"\x89PNG\xff\xfe\0",
        gzip.compress(b"https://shop.example/\n", mtime=0),
        b"\xf24L:>\xe6{\x0f\x03\nhttps://shop.example/\n",
    ],
    ids=["picture", "packed", "noise"],
)
def test_a_file_of_urls_that_is_no_text(vitrine: Vitrine, content: bytes) -> None:
    """No session is begun for its lines."""
    Path("urls.txt").write_bytes(content)
    done = vitrine("hauls", "create", "spring", "--urls", "urls.txt")
    assert told(done, "usage").endswith("urls.txt is no text")
    assert done.code == 2


def test_a_page_that_breaks_off(vitrine: Vitrine) -> None:
    """It is not judged by what is left of it."""
    Path("page.html.gz").write_bytes(gzip.compress(b"<h1>Jug</h1>" * 1000)[:-20])
    done = vitrine("pdp", "check", "page.html.gz")
    assert (done.code, done.out) == (1, "")
    assert done.err == "✗ page.html.gz: damaged gzip file: it breaks off\n"


def test_hints_name_the_command_that_was_called(vitrine: Vitrine) -> None:
    """Its own help, and its own options instead of the spider's arguments."""
    assert vitrine("sessions", "list", "--frob").err.endswith(
        "hint: `vitrine sessions list --help` tells what it takes\n"
    )
    assert as_options("give -a url=https://… or -a urls=FILE") == "give https://… or --urls FILE"
    assert as_options("-a max_pages=x is odd") == "--max-pages x is odd"
    assert as_options("-a odd=1 is unknown") == "-a odd=1 is unknown"


@pytest.mark.parametrize("closed", ["0", "1", "2"])
def test_closed_streams_and_odd_terminals(tmp_path: Path, closed: str) -> None:
    """Nothing breaks for want of somewhere to read or write, or of a sign."""
    (tmp_path / "scrapy.cfg").touch()
    line = f'exec {closed}<&-; exec "$0" -m crawler.cli doctor'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable],
        cwd=tmp_path, capture_output=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    assert b"error[" not in done.stderr
    assert closed == "1" or b"? ok" in done.stdout


def test_an_export_into_a_closed_output_is_refused(tmp_path: Path) -> None:
    """It is not put on record as written; into nothing, on purpose, it may go."""
    (tmp_path / "scrapy.cfg").touch()
    program = 'v() { "$0" -m crawler.cli "$@"; }'
    line = f"{program}; v db upgrade >/dev/null && v export prices >/dev/null && v export prices >&-"
    done = subprocess.run(
        ["sh", "-c", line, sys.executable],
        cwd=tmp_path, capture_output=True, check=False, stdin=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    *_, written, error, hint = done.stderr.splitlines()
    assert (done.returncode, error) == (2, "error[usage]: standard output is closed"), done.stderr
    assert (written, hint) == ("0 prices written to standard output", "hint: give --out FILE")
