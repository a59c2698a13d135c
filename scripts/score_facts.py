"""Compares the facts of product pages with what extruct and price-parser make of their structured data.

`python -m scripts.score_facts FOLDER…`, where a folder has `labels.csv` and `pages/*.html.gz`. A page counts
where one product alone stands in its JSON-LD or, if there is none, in its microdata; `--all` lists
what differs.
"""

from __future__ import annotations

from crawler import interrupts

if __name__ == "__main__":
    interrupts.end_at_once()

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a file it knows its own folder alone

import extruct
from price_parser import Price

from bench.pdp import SavedPage, pages_folder, saved_pages
from crawler.pdp import read_facts, read_page
from crawler.pdp.account import gtin_of

FACTS = ("price", "currency", "availability", "name", "sku", "gtin", "brand", "image")
_PRODUCTS = {"Product", "ProductGroup", "IndividualProduct", "ProductModel"}
_GTINS = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "ean", "isbn", "productID")
_SUBJECT = ("@graph", "mainEntity", "mainEntityOfPage", "about", "itemOffered")


def oracle(saved: SavedPage) -> dict[str, str]:
    """What extruct finds of the page's only product, fact by fact; nothing where there are several."""
    syntaxes = ["json-ld", "microdata"]
    found = extruct.extract(saved.body, base_url=saved.url, syntaxes=syntaxes, errors="ignore", uniform=True)
    for syntax in ("json-ld", "microdata"):
        products = [node for top in found.get(syntax, []) for node in _products(top)]
        if len(products) == 1:
            return {name: text for name, text in _facts(products[0], saved.url).items() if text}
        if products:
            return {}
    return {}


def _products(node: Any) -> list[dict[str, Any]]:
    """The products at the top of a document, or that are its subject."""
    if isinstance(node, list):
        return [product for each in node for product in _products(each)]
    if not isinstance(node, dict):
        return []
    if _PRODUCTS.intersection(map(str, _listed(node.get("@type")))):
        return [node]
    return [product for name in _SUBJECT for product in _products(node.get(name))]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _facts(product: dict[str, Any], url: str) -> dict[str, str]:
    variant = next((each for each in _listed(product.get("hasVariant")) if isinstance(each, dict)), {})
    offer = _offer(product) or _offer(variant)
    specification = next(
        (each for each in _listed(offer.get("priceSpecification")) if isinstance(each, dict)), {}
    )
    amount = next(
        (
            text
            for holder in (offer, specification, product)
            for name in ("price", "lowPrice")
            if (text := _text(holder.get(name)))
        ),
        "",
    )
    return {
        "price": _amount(amount),
        "currency": (_text(offer.get("priceCurrency")) or _text(specification.get("priceCurrency"))).upper(),
        "availability": _text(offer.get("availability")).rstrip("/").rpartition("/")[2],
        "name": _text(product.get("name")),
        "sku": _text(product.get("sku")) or _text(variant.get("sku")),
        "gtin": next(
            (
                code
                for each in (product, variant, offer)
                for name in _GTINS
                if (code := gtin_of(_text(each.get(name))))
            ),
            "",
        ),
        "brand": _name(product.get("brand")) or _name(product.get("manufacturer")),
        "image": _address(product.get("image") or variant.get("image"), url),
    }


def _offer(product: dict[str, Any]) -> dict[str, Any]:
    offers = [each for each in _listed(product.get("offers")) if isinstance(each, dict)]
    inner = [each for offer in offers for each in _listed(offer.get("offers")) if isinstance(each, dict)]
    priced = [each for each in (*offers, *inner) if _amount(_text(each.get("price") or each.get("lowPrice")))]
    return next(iter(priced or offers), {})


def _text(value: Any) -> str:
    first = next(iter(_listed(value)), "")
    return " ".join(str(first).split()) if isinstance(first, str | int | float) else ""


def _name(value: Any) -> str:
    first = next(iter(_listed(value)), None)
    name = _text(first.get("name")) if isinstance(first, dict) else _text(first)
    return "" if name.startswith(("/", "http")) else name  # the address of a link names nobody


def _address(value: Any, url: str) -> str:
    first = next(iter(_listed(value)), None)
    if isinstance(first, dict):
        first = first.get("url") or first.get("contentUrl")
    return urljoin(url, first) if isinstance(first, str) and first else ""


def _amount(text: str) -> str:
    amount = Price.fromstring(text).amount
    return f"{amount.normalize():f}" if amount else ""


def agrees(fact: str, expected: str, value: Any) -> bool:
    """Whether a fact says what is expected, but for white space, marks and case in words."""
    if fact == "price":
        return value is not None and f"{value.normalize():f}" == expected
    if fact == "availability":
        expected = {"instock": "InStock", "outofstock": "OutOfStock"}.get(expected.lower(), expected)
    return _bare(str(value)) == _bare(expected)


def _bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def main(arguments: list[str]) -> int:
    """Print for each fact how many pages have it and on how many both say the same."""
    parser = argparse.ArgumentParser(prog="python -m scripts.score_facts", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with labels.csv and pages/")
    parser.add_argument("--all", action="store_true", help="list what differs")
    asked = parser.parse_args(arguments)
    known = pages_folder()
    folders = asked.folders or ([known, known.with_name(known.name + "2")] if known else [])
    if not folders or not all((folder / "labels.csv").is_file() for folder in folders):
        sys.stderr.write("error[usage]: no labels.csv\n")
        return 2
    stated: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for saved in (page for folder in folders for page in saved_pages(folder) if page.is_pdp):
        expected = oracle(saved)
        told = differing(saved, expected)
        stated.update(expected.keys())
        agreed.update(expected.keys() - told.keys())
        if asked.all:
            print("".join(f"  {saved.id} {saved.site} {name}: {told[name]}\n" for name in told), end="")
    print(f"{'fact':14} {'pages':>6} {'the same':>9} {'share':>7}")
    for name in FACTS:
        share = agreed[name] / stated[name] if stated[name] else 1.0
        print(f"{name:14} {stated[name]:6} {agreed[name]:9} {share:7.3f}")
    return 0


def differing(saved: SavedPage, expected: dict[str, str]) -> dict[str, str]:
    """The facts that are not what is expected, with both in words."""
    facts = read_facts(read_page(saved.body, url=saved.url))
    return {
        name: f"{text[:90]!r}, here {str(getattr(facts, name))[:90]!r}"
        for name, text in expected.items()
        if not agrees(name, text, getattr(facts, name))
    }


if __name__ == "__main__":
    sys.exit(interrupts.run(lambda: main(sys.argv[1:])))
