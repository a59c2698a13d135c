"""The rule is scored on labelled pages, site by site in folds."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from scripts import score_rule

if TYPE_CHECKING:
    from pathlib import Path

BUY = "<button>Add to cart</button>"
PRODUCT = f"<title>A jug</title><h1>A jug</h1><img src='jug.jpg'><p class='price'>48 €</p>{BUY}"
LIST = "<title>Jugs</title><h1>Jugs</h1><p>Nothing here</p>"
ROWS = (
    ("1", "pdp", "one", PRODUCT),
    ("2", "listing", "one", LIST),
    ("3", "pdp", "two", LIST),  # nobody could tell
    ("4", "other", "three", PRODUCT),  # mislabelled
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Labelled pages, two of which are judged wrongly."""
    (tmp_path / "pages").mkdir()
    lines = ["id,label,site,language,currency,era,url"]
    for number, label, site, html in ROWS:
        lines.append(f"{number},{label},{site},en,EUR,2026,https://{site}.example/{number}")
        (tmp_path / "pages" / f"{number}.html.gz").write_bytes(gzip.compress(html.encode(), mtime=0))
    (tmp_path / "labels.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_figures_and_wrong_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both versions are scored, and the pages that are wrong are named with why."""
    assert score_rule.main([str(folder)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("all       4 pages  P 0.500  R 0.500  F 0.500") == 2
    assert "3 pdp     two  refused: missing_price, missing_title_and_image, missing_strong_signal" in shown
    assert "4 other   three  accepted" in shown


def test_a_hidden_fold_shows_no_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What nobody should have looked at is counted and not named."""
    score_rule.main([str(folder), "--hide", str(score_rule.fold_of("three"))])
    shown = capsys.readouterr().out
    assert "three" not in shown
    assert "R 0.500" in shown


def test_what_a_change_did(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was right before and is not now is broken; the other way round it is mended."""
    before = tmp_path / "before.json"
    score_rule.main([str(folder), "--policy", "v1.2", "--save", str(before)])
    right = json.loads(before.read_text())["v1.2"]
    assert right == {"1": True, "2": True, "3": False, "4": False}
    before.write_text(json.dumps({"v1.2": {**right, "1": False, "4": True}}))
    capsys.readouterr()
    score_rule.main([str(folder), "--policy", "v1.2", "--against", str(before)])
    shown = capsys.readouterr().out
    assert "mended 1 one" in shown
    assert "broken 4 three" in shown


def test_a_folder_without_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is none is said, in one line."""
    assert score_rule.main([str(tmp_path)]) == 2
    assert "no labels.csv" in capsys.readouterr().err
