"""Facts are compared with what others read in the same structured data."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

from scripts import score_facts

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

OFFER = {
    "@type": "Offer",
    "price": "48.00",
    "priceCurrency": "EUR",
    "availability": "https://schema.org/InStock",
}
JUG: dict[str, Any] = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Jug",
    "sku": "J1",
    "offers": OFFER,
}


def folder_of(folder: Path, *products: dict[str, Any]) -> Path:
    """A folder with one labelled page that has that JSON-LD."""
    (folder / "pages").mkdir()
    scripts = "".join(
        f'<script type="application/ld+json">{json.dumps(product)}</script>' for product in products
    )
    html = f"<title>Jug</title>{scripts}<h1>Jug</h1>"
    (folder / "pages" / "1.html.gz").write_bytes(gzip.compress(html.encode(), mtime=0))
    rows = "id,label,site,language,currency,era,url\n1,pdp,kiln,en,EUR,2026,https://kiln.example/1"
    (folder / "labels.csv").write_text(rows, encoding="utf-8")
    return folder


def test_what_both_say_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fact by fact, where the data state it; what differs is listed."""
    odd = {**JUG, "offers": {**OFFER, "availability": "https://schema.org/OnTheMoon"}}
    assert score_facts.main([str(folder_of(tmp_path, odd)), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "1 kiln availability: 'OnTheMoon', here ''" in shown
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines()[2:]}
    assert rows["price"] == ["1", "1", "1.000"]
    assert rows["availability"] == ["1", "0", "0.000"]
    assert rows["brand"] == ["0", "0", "1.000"]
