"""A list states what is its own; what every list takes and does comes along."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import pytest
import typer
from attrs import frozen
from typer.testing import CliRunner

from crawler.cli.lists import Found, list_command
from crawler.cli.options import Caused
from crawler.cli.output import NOTHING_MATCHED, Listing
from crawler.errors import UsageError
from crawler.views.paging import Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Annotated[str | None, typer.Option("--kind", help="Only these.")]
DAYS = Listing("days", lambda one: {"day": one}, empty="no days", then="sleep", key=lambda one: one)


@frozen
class Answer:
    """What a command wrote, and its exit code."""

    code: int
    out: str
    err: str


def answer(command: Any, *arguments: str) -> Answer:
    """Run a command as Typer does."""
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, arguments, standalone_mode=False)
    if result.exception:
        raise result.exception
    return Answer(result.return_value or 0, result.stdout, result.stderr)


def test_a_list_gets_what_is_wanted_and_its_own_options() -> None:
    """Whatever stands on the command line, in whichever order."""
    asked: list[tuple[Wanted, str | None]] = []

    @list_command(DAYS, cause=Caused)
    def days(wanted: Wanted, *, kind: Kind = None) -> Sequence[str]:
        """List days."""
        asked.append((wanted, kind))
        return ["monday"]

    words = "--limit 3 --domain shop.example --kind sunny --since 2026-05-01 --cause http_error --after 7"
    assert answer(days, *words.split(), "--json").code == 0
    since = datetime(2026, 5, 1, tzinfo=UTC)
    wanted = Wanted(domain="shop.example", since=since, cause="http_error", after="7", limit=3)
    assert asked == [(wanted, "sunny")]


def test_a_list_without_causes_takes_none() -> None:
    """An option that could match nothing is not there."""

    @list_command(DAYS, limit=20)
    def days(wanted: Wanted) -> Sequence[str]:
        """List days."""
        assert wanted == Wanted(limit=20)
        return []

    assert answer(days).code == 0
    assert answer(days, "--fail-empty").code == NOTHING_MATCHED
    with pytest.raises(Exception, match="--cause"):
        answer(days, "--cause", "http_error")
    with pytest.raises(UsageError, match="is not before"):
        answer(days, "--since", "2026-05-02", "--until", "2026-05-01")


def test_what_is_told_beside_the_documents() -> None:
    """In the JSON document; and what is whole leads to no next page."""

    @list_command(DAYS, limit=1)
    def days(wanted: Wanted, *, kind: Kind = None) -> Sequence[str] | Found:
        """List days."""
        return Found(["monday"], {"weeks": wanted.limit}, is_whole=True) if kind else ["monday"]

    assert json.loads(answer(days, "--kind", "all", "--json").out) == {"weeks": 1, "days": ["monday"]}
    assert "--after monday" not in answer(days, "--kind", "all").err
    assert "--after monday" in answer(days).err
    assert answer(days, "--jsonl").out == '"monday"\n'


def test_the_help_is_the_questions_own() -> None:
    """With its own options in front."""

    @list_command(DAYS)
    def days(wanted: Wanted, *, kind: Kind = None) -> Sequence[str]:
        """List days, whichever."""
        raise NotImplementedError

    shown = answer(days, "--help").out
    assert "List days, whichever." in shown
    assert shown.index("--kind") < shown.index("--domain") < shown.index("--limit") < shown.index("--json")
