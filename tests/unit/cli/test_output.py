"""How commands speak to people and to machines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from crawler.cli.output import emit, emit_line, size, status_mark, table, when

NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1 << 20, "1.0 MiB"), (5 << 40, "5120.0 GiB")],
)
def test_sizes_are_for_people(count: int, text: str) -> None:
    """In steps of 1024."""
    assert size(count) == text


def test_times_are_in_utc() -> None:
    """And say so."""
    assert when(NOON) == "2026-05-04 12:30:00Z"
    assert when(None) == "-"


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


def test_an_unknown_status_is_shown_as_it_is() -> None:
    """A newer program may have written it."""
    assert status_mark("[odd]") == "\\[odd]"
    assert status_mark("completed").endswith("completed")
