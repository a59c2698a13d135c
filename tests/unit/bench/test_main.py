"""`python -m bench` finds what there is to measure."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bench.__main__ import main, names_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_modules_with_a_main_are_benchmarks(tmp_path: Path) -> None:
    """What they share, and what is private, is none."""
    for name, text in {
        "fetch": "\ndef main() -> None: ...",
        "pages": "\ndef page() -> None: ...",
        "__main__": "\ndef main() -> None: ...",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert names_of(tmp_path) == ["fetch"]


def test_an_unknown_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is measured."""
    assert main(["no-such-bench"]) == 2
    assert capsys.readouterr().err.startswith("error[usage]: there is no benchmark 'no-such-bench'\n")


def test_its_own_name_is_no_word_for_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes words, as the slice its shapes, finds none of the command that started it."""
    words: list[list[str]] = []
    monkeypatch.setattr("bench.pdp.main", lambda: words.append(sys.argv[1:]))
    monkeypatch.setattr("sys.argv", ["bench", "pdp"])
    assert main(["pdp"]) == 0
    assert words == [[]]
