"""A recorded case is one that the contract tests can run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scripts.record_fixture import record

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (
    b'<title>Cup</title><h1>Cup</h1><img src="c.jpg"><p class="price">$9.00</p><button>Add to cart</button>'
)


def test_record(tmp_path: Path) -> None:
    """The page is kept byte by byte, with its verdicts and facts beside it."""
    folder = tmp_path / "case"
    record(PAGE, url="https://shop.example/cup", about="a cup", folder=folder)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert (folder / "page.html").read_bytes() == PAGE
    assert expected["verdicts"]["v1.2"]["is_pdp"] is True
    assert expected["facts"] == {"name": "Cup", "price": "9.00", "currency": "USD"}
