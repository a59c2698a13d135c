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

from crawler.commands.checked import as_options
from crawler.db import engine

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Done, Vitrine

CHECKOUT = Path(__file__).parents[3]
HUGE = "9" * 30
HOLD = "retention hold --domain shop.example --who me"
# Wrong usage, whatever is in the database: exit code 2.
USAGE = [
    "sessions list --status odd", "sessions list --since soon", "sessions list --limit 0",
    "sessions list --since 2026-05-02 --until 2026-05-01", "pages list --status odd",
    "artifacts list --type odd", "assets show -1", "assets list --status odd", f"assets list --run {HUGE}",
    "exceptions resolve", "exceptions resolve 1 --run 1", "exceptions resolve --stage fetch",
    f"exceptions resolve {HUGE}", f"exceptions resolve --run 1 --note {'x' * 1001}",
    f"exceptions resolve {' '.join(map(str, range(1, 1002)))}",
    "purge", "purge --session 1 --domain shop.example", "prices refresh --older-than soon",
    "export everything", "export listings --out none/all.csv", "hauls create x --urls missing.txt",
    "retention set listings 3", "retention set users 3", "retention set hauls 0", "retention set hauls 1.5",
    "retention hold --who me --why x", f"{HOLD} --why x --until soon", f"{HOLD} --why x --until 2001-01-01",
    "search x --from 0000-01-01", "search x --view x", "search x --page 0", "search x --page-size 101",
    "search x --from 2026-05-02 --to 2026-05-01", "search (red", "search red)", 'search title:"red',
    "worker --poll-interval 0", "worker --poll-interval nan", "worker --poll-interval 3601",
    "serve --host 0.0.0.0 --port 0", "jobs create --source hc --option min_workers",
    "notify",
]  # fmt: skip
# What is named and is not there: exit code 1.
UNKNOWN = [
    "sessions show ff", "artifacts cat zz", "artifacts cat %", "artifacts verify 00000000",
    "artifacts list --session zz", "pages list --session zz", "assets show 999", f"assets show {HUGE}",
    "exceptions resolve 998", "prices show abc", "snapshots show 2", f"snapshots cat {2**63}",
    "runs show 77", "runs stop 77", "runs resume 77", "runs report 77", "jobs show 7", "jobs retry 7",
    "changes list --source other", "diff 1 999", "retention unhold --domain shop.example",
]  # fmt: skip


def told(done: Done, code: str) -> str:
    """The error, in one line with one hint behind it."""
    assert "Traceback" not in done.err
    error, hint = done.err.splitlines()[-2:]
    assert error.startswith(f"error[{code}]: ")
    assert hint.startswith("hint: ")
    return error


@pytest.mark.parametrize(
    ("line", "code"),
    [*((line, 2) for line in USAGE), *((line, 1) for line in UNKNOWN)],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.usefixtures("made")
def test_a_wrong_command_is_one_error_line_and_an_exit_code(vitrine: Vitrine, line: str, code: int) -> None:
    """Nothing stands on standard output."""
    done = vitrine(*line.split())
    assert (done.code, done.out) == (code, ""), done.err
    assert len([each for each in done.err.splitlines() if each.startswith("error[")]) == 1
    assert "error[internal]" not in done.err


def test_an_unknown_cause_names_the_one_that_is_like_it(vitrine: Vitrine) -> None:
    """Rather than all of them."""
    done = vitrine("sessions", "list", "--cause", "robot_refused")
    assert (done.code, done.err.splitlines()[-1]) == (2, "hint: --cause robots_refused is one")


def test_a_file_that_is_no_database(vitrine: Vitrine) -> None:
    """Such as the artifact that somebody meant to look at."""
    Path("page.gz").write_bytes(os.urandom(4096))
    done = vitrine("sessions", "list", DATABASE_URL="sqlite:///page.gz")
    assert "file is not a database" in told(done, "database_unavailable")
    assert done.code == 1


def test_a_database_of_another_program_is_left_alone(vitrine: Vitrine) -> None:
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


def test_a_database_that_may_only_be_read(vitrine: Vitrine, postgres_database: str) -> None:
    """A file, or a role or standby of a server: changing something is refused in a line."""
    options = "options=-c%20default_transaction_read_only%3Don"
    server = f"{postgres_database}{'&' if '?' in postgres_database else '?'}{options}"
    file = f"sqlite:///file:{Path('var/vitrine.db').absolute()}?mode=ro&uri=true"
    for whole, where, why in (
        (postgres_database, server, "read-only transaction"), ("", file, "readonly database"),
    ):  # fmt: skip
        assert vitrine("db", "upgrade", DATABASE_URL=whole).code == 0
        done = vitrine("retention", "set", "hauls", "3", DATABASE_URL=where)
        assert why in told(done, "database_unavailable")


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\xff\xfe\0", gzip.compress(b"https://shop.example/\n", mtime=0)],
    ids=["picture", "packed"],
)
def test_a_file_of_urls_that_is_no_text(vitrine: Vitrine, content: bytes) -> None:
    """No session is begun for its lines."""
    Path("urls.txt").write_bytes(content)
    done = vitrine("hauls", "create", "spring", "--urls", "urls.txt")
    assert told(done, "usage").endswith("urls.txt is no text")
    assert done.code == 2


def test_hints_name_the_command_that_was_called(vitrine: Vitrine) -> None:
    """Its own help, and its own options instead of the spider's arguments."""
    assert vitrine("sessions", "list", "--frob").err.endswith(
        "hint: `vitrine sessions list --help` tells what it takes\n"
    )
    assert as_options("give -a url=https://… or -a urls=FILE") == "give https://… or --urls FILE"
    assert as_options("-a max_pages=x is odd") == "--max-pages x is odd"
    assert as_options("-a odd=1 is unknown") == "-a odd=1 is unknown"


def ran(tmp_path: Path, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which "$0" is Python."""
    (tmp_path / "scrapy.cfg").touch()
    return subprocess.run(
        ["sh", "-c", line, sys.executable],
        cwd=tmp_path, capture_output=True, check=False, stdin=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environment},
    )  # fmt: skip


def test_a_command_works_without_standard_input_and_error(tmp_path: Path) -> None:
    """Nor does it need a terminal that has every sign."""
    done = ran(tmp_path, 'exec 0<&- 2<&-; exec "$0" -m crawler.cli doctor', PYTHONIOENCODING="ascii")
    assert "? ok" in done.stdout
    assert done.returncode == 0


@pytest.mark.usefixtures("made")
def test_an_export_into_a_closed_output_is_refused(tmp_path: Path) -> None:
    """It is not put on record as written."""
    done = ran(tmp_path, 'exec "$0" -m crawler.cli export prices >&-')
    *_, error, hint = done.stderr.splitlines()
    assert (done.returncode, error) == (2, "error[usage]: standard output is closed"), done.stderr
    assert hint == "hint: give --out FILE"
