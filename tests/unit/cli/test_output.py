"""How commands speak to people and to machines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from rich.console import Console

from crawler.cli import output
from crawler.cli.output import LEFT, Listing, emit, emit_line, note, say, show_list, size, table

NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
FRUIT = Listing("fruit", lambda one: {"name": one, "bytes": len(one)}, empty="no [bold]fruit[/]", then="eat")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1 << 20, "1.0 MiB"), (5 << 40, "5120.0 GiB")],
)
def test_sizes_are_for_people(count: int, text: str) -> None:
    """In steps of 1024."""
    assert size(count) == text


def test_json_takes_what_rows_hold(capsys: pytest.CaptureFixture[str]) -> None:
    """Ids and paths as text, times in ISO 8601, other scripts as they are."""
    emit({"id": UUID(int=1), "at": NOON, "path": Path("a/b"), "name": "朝霧グラス"})
    out = capsys.readouterr().out
    assert "朝霧グラス" in out
    assert json.loads(out) == {
        "id": "00000000-0000-0000-0000-000000000001", "at": "2026-05-04T12:30:00+00:00", "path": "a/b",
        "name": "朝霧グラス",
    }  # fmt: skip


def test_json_lines_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the text holds."""
    emit_line({"text": "a\nb"})
    emit_line({})
    assert capsys.readouterr().out == '{"text": "a\\nb"}\n{}\n'


def test_what_has_no_place_in_json_is_an_error() -> None:
    """Instead of a guess that programs would come to rely on."""
    with pytest.raises(TypeError, match="set has no place in JSON"):
        emit({"x": {1}})


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


def test_what_was_left_has_a_sign_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """It says running, and nobody is at it."""
    note("{status}", status=f"running{LEFT}")
    assert capsys.readouterr().err == "! running, but no process is at it\n"


def test_a_list_is_printed_in_each_way(capsys: pytest.CaptureFixture[str]) -> None:
    """As a table with the next step, one document, or a line each."""
    assert show_list(FRUIT, ["fig"], as_json=False) == 0
    out, err = capsys.readouterr()
    assert [line.split() for line in out.splitlines()] == [["name", "bytes"], ["fig", "3", "B"]]
    assert err == "next: eat\n"
    assert show_list(FRUIT, ["fig"], as_json=True, shared=True) == 0
    assert json.loads(capsys.readouterr().out) == {"fruit": ["fig"], "shared": True}
    assert show_list(FRUIT, ["fig", "date"], as_json=False, as_jsonl=True) == 0
    assert capsys.readouterr().out == '"fig"\n"date"\n'


def test_an_empty_list_says_how_to_get_some(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the data; it is a failure only where that is asked for."""
    assert show_list(FRUIT, [], as_json=False) == 0
    assert capsys.readouterr() == ("", "no fruit\n")
    assert show_list(FRUIT, [], as_json=False, fail_empty=True) == 4
    assert show_list(FRUIT, [], as_json=True, fail_empty=True) == 4
    assert json.loads(capsys.readouterr().out) == {"fruit": []}


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


@pytest.mark.parametrize("width", range(40, 121, 5))
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


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Data stays."""
    output.hushed.set()
    try:
        show_list(FRUIT, ["fig"], as_json=False)
    finally:
        output.hushed.clear()
    assert not capsys.readouterr().err
