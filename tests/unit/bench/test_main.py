"""`python -m bench` finds what there is to measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.__main__ import main, names_of
from bench.words import parser_of

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.mark.parametrize(("words", "code"), [(["three"], 2), (["--fast"], 2), (["--help"], 0)])
def test_nothing_is_measured_by_mistake(words: list[str], code: int) -> None:
    """A benchmark takes minutes: an unknown word is no wish for all of them."""
    with pytest.raises(SystemExit) as ended:
        parser_of("any", ["one", "two"]).parse_args(words)
    assert ended.value.code == code
