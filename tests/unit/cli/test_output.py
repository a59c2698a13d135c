"""How commands speak to people and to machines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from rich.console import Console

from crawler.cli import output
from crawler.cli.output import emit, say, table

NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


def test_json_takes_what_rows_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """Ids and paths as text, times in ISO 8601, other scripts as they are."""
    emit({"id": UUID(int=1), "at": NOON, "path": Path("a/b"), "name": "朝霧グラス"})
    out = capsys.readouterr().out
    assert "朝霧グラス" in out
    assert json.loads(out) == {
        "id": "00000000-0000-0000-0000-000000000001", "at": "2026-05-04T12:30:00+00:00", "path": "a/b",
        "name": "朝霧グラス",
    }  # fmt: skip


def test_markup_of_sites_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """A product called [red] is shown as it is called; an empty cell has a dash."""
    table(("product", "why not"), [("[red]Lamp[/]", None), ("", "x")])
    out = capsys.readouterr().out
    assert "[red]Lamp[/]" in out
    assert [line.split() for line in out.splitlines()][1:] == [["[red]Lamp[/]", "-"], ["-", "x"]]


def test_a_cell_is_shown_as_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Times in UTC, sizes in steps, a status with its sign."""
    table(("seen", "bytes", "status"), [(NOON, 2048, "completed"), (None, None, "[odd]")])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert lines[0].split() == ["2026-05-04", "12:30:00Z", "2.0", "KiB", "✓", "completed"]
    assert lines[1].split() == ["-", "-", "[odd]"]


def test_values_of_a_line_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Nor do they steer a terminal; a line without values keeps its braces."""
    say("[bold]{name}[/] of {moment}: {status}", name="[red]{x}\x1b[31m", moment=NOON, status="failed")
    say("{literally}")
    out = capsys.readouterr().out
    assert out == "[red]{x}\ufffd[31m of 2026-05-04 12:30:00Z: ✗ failed\n{literally}\n"


def test_a_narrow_terminal_leaves_columns_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the right, and says which; no date is broken, and text may be folded."""
    monkeypatch.setattr(output, "data", lambda: Console(width=80, highlight=False))
    columns = ("session", "created", "domain", "status", "product", "why not", "seen")
    row = ("0123abcd", NOON, "a-shop-with-a-long-name.example", "completed", "A chair of oak", "x" * 40, NOON)
    table(columns, [row])
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "0123abcd  2026-05-04 12:30:00Z" in lines[1]
    assert "seen" not in lines[0]
    assert err == "left out for want of room: why not, seen; --json has all\n"


@pytest.mark.parametrize("width", [40, 75, 120])
def test_no_date_and_no_short_word_is_broken_at_any_width(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """What is shown of a column is shown whole, its name included, where it is no text."""
    monkeypatch.setattr(output, "data", lambda: Console(width=width, highlight=False))
    columns = ("id", "artifact", "bytes", "goes", "sha256", "storage_uri")
    table(columns, [("0123abcd", "session_logs_jsonl", 2048, NOON, "76dee533ffd2", "a/b" * 30)])
    names, line, *_ = capsys.readouterr().out.splitlines()
    whole = ["0123abcd", "session_logs_jsonl", "2.0 KiB", "2026-05-04 12:30:00Z", "76dee533ffd2"]
    for name, cell in zip(columns, whole, strict=False):
        assert (name in names) == (cell in line)
    assert names.split() == list(columns[: len(names.split())])
