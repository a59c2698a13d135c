"""`vitrine exceptions`: what is worth a look, and that somebody has looked."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.cli.options import person
from crawler.db.models import AuditEntry, Run
from crawler.runs import exceptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Done, Vitrine

    Command = Callable[..., Done]

THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def command(vitrine: Vitrine, database_url: str) -> Command:
    """Runs `vitrine exceptions` on the database of the test."""
    return lambda *arguments: vitrine("exceptions", *arguments, DATABASE_URL=database_url)


@pytest.fixture
def noted(database: Database) -> dict[str, list[int]]:
    """Two runs and their exceptions: two of fetching and one of a plugin, and one of the other run."""
    with database.write() as db:
        runs = [Run(source="shop", plan={}, created_at=THEN) for _ in range(2)]
        db.add_all(runs)
        db.flush()
        said = [
            (0, "fetch", "HTTP 500"),
            (0, "fetch", "[red]HTTP 501"),
            (0, "plugin", "KeyError"),
            (1, "parse", "x"),
        ]
        ids = [
            exceptions.note(db, runs[run].id, stage, "https://shop.example/", message, {"n": 1}, THEN)
            for run, stage, message in said
        ]
        return {"runs": [run.id for run in runs], "ids": ids}


def ids_of(command: Command, *arguments: str) -> list[int]:
    """The ids that a listing has."""
    done = command("list", "--json", *arguments)
    assert done.code == 0, done.err
    return [each["id"] for each in done.document["exceptions"]]


def audit(database: Database) -> Sequence[AuditEntry]:
    """What is on record of who did what."""
    with database.read() as db:
        return db.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()


def test_open_ones_are_listed(command: Command, noted: dict[str, list[int]]) -> None:
    """By run and by stage, the newest first."""
    first, second = map(str, noted["runs"])
    a, b, c, d = noted["ids"]
    assert ids_of(command) == [d, c, b, a]
    assert ids_of(command, "--run", first) == [c, b, a]
    assert ids_of(command, "--run", first, "--stage", "fetch") == [b, a]
    assert ids_of(command, "--run", second, "--stage", "fetch") == []
    assert ids_of(command, "--limit", "1") == [d]
    assert command("list", "--run", "999", "--fail-empty").code == 4
    shown = command("list").out
    assert "[red]HTTP 501" in shown
    assert "open" in shown


def test_a_line_has_all_that_is_known(command: Command, noted: dict[str, list[int]]) -> None:
    """One JSON document for each."""
    rows = [json.loads(line) for line in command("list", "--jsonl").out.splitlines()]
    assert rows[-1] == {
        "id": noted["ids"][0], "run_id": noted["runs"][0], "stage": "fetch", "url": "https://shop.example/",
        "message": "HTTP 500", "times": 1, "context": {"n": 1}, "created_at": "2026-03-01T12:00:00+00:00",
        "last_at": "2026-03-01T12:00:00+00:00", "resolved_at": None, "resolved_by": None, "resolution": None,
    }  # fmt: skip


def test_some_are_resolved_by_their_numbers(
    command: Command, noted: dict[str, list[int]], database: Database
) -> None:
    """It stays on record who did it, and why; a second time there is nothing to do."""
    a, b, c, d = noted["ids"]
    chosen = (str(c), str(a))
    assert command("resolve", *chosen, "--note", "moved", "--json").document == {"resolved": 2}
    assert ids_of(command) == [d, b]
    assert ids_of(command, "--all") == [d, c, b, a]
    [row] = [each for each in command("list", "--all", "--json").document["exceptions"] if each["id"] == a]
    assert (row["resolved_by"], row["resolution"]) == (person(), "moved")
    [entry] = audit(database)
    assert (entry.action, entry.actor, entry.subject) == (
        "exceptions.resolve",
        person(),
        f"exceptions {a} {c}",
    )
    assert entry.details == {"resolved": 2, "ids": [a, c], "stage": None, "note": "moved"}
    again = command("resolve", *chosen)
    assert (again.code, again.out) == (0, "0 resolved\n")
    assert "2 of them were resolved already" in again.err
    assert len(audit(database)) == 1


def test_all_of_a_run_are_resolved(command: Command, noted: dict[str, list[int]], database: Database) -> None:
    """Or those of a stage."""
    run = str(noted["runs"][0])
    *_, c, d = noted["ids"]
    assert command("resolve", "--run", run, "--stage", "fetch").out == "2 resolved\n"
    assert ids_of(command) == [d, c]
    assert command("resolve", "--run", run).out == "1 resolved\n"
    assert ids_of(command) == [d]
    found: list[Any] = [(entry.subject, entry.details["stage"]) for entry in audit(database)]
    assert found == [(f"run {run}", "fetch"), (f"run {run}", None)]


def test_a_number_too_many_resolves_nothing(
    command: Command, noted: dict[str, list[int]], database: Database
) -> None:
    """It may be a slip."""
    done = command("resolve", str(noted["ids"][0]), "998", "999")
    assert (done.code, done.out) == (1, "")
    assert "error[not_found]: there is no exception 998, 999; nothing was resolved" in done.err
    assert len(ids_of(command)) == 4
    assert audit(database) == []
