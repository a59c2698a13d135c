"""The sites of which something was captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.unit.web.conftest import Served


def test_a_site_has_its_pages(filled: Served) -> None:
    """As the list says how many; a page past the end is empty, and what is no number is the first."""
    [listed] = filled.get("/sites.json").json()
    assert (listed["source_code"], listed["record_count"]) == ("shop.example", 2)
    found = filled.get("/sites/shop.example.json").json()
    assert (found["pages_total"], len(found["pages"])) == (2, 2)
    assert filled.get("/sites/SHOP.example.json").json()["source"] == found["source"]
    assert filled.get("/sites/shop.example.json?page=99999").json()["pages"] == []
    assert filled.get("/sites/shop.example.json?page=x").json() == found
    assert filled.get("/sites.csv").text.splitlines()[0] == "source,name,snapshots,first,last"


def test_an_unknown_site_is_not_there(filled: Served) -> None:
    """Whatever its name is made of."""
    for name in ("other.example", "%25", "shop.example%20", "x" * 1_000, "%3Cscript%3E", "_"):
        answer = filled.get(f"/sites/{name}", headers={"Accept": "text/html"})
        assert (name, answer.status_code) == (name, 404)
        assert "<script>" not in answer.text.replace('<script type="module"', "")
    assert filled.get("/sites/shop.example?page=" + "9" * 21).status_code == 422
