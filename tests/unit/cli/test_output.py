"""How commands speak to people and to machines."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rich.console import Console

from crawler.cli import output
from crawler.cli.output import table

NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


def test_markup_of_sites_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """A product called [red] is shown as it is called; an empty cell has a dash."""
    table(("product", "why not"), [("[red]Lamp[/]", None), ("", "x")])
    out = capsys.readouterr().out
    assert "[red]Lamp[/]" in out
    assert [line.split() for line in out.splitlines()][1:] == [["[red]Lamp[/]", "-"], ["-", "x"]]


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
