"""The search for programs: any text is a question, and odd bounds are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crawler.archive import search as archive_search
from crawler.views import search as views_of_search

if TYPE_CHECKING:
    from crawler.archive.search import SearchOrder
    from tests.unit.web.conftest import Serve, Served


def test_what_cannot_be_understood_is_422(served: Served) -> None:
    """Bounds are checked before a database sees a value."""
    for query in (
        "page=0", "pageSize=0", "pageSize=101", "page=9007199254740993", "from=0000-01-01", "from=2026-13-01",
        "to=1700000000", "from=2026-02-01&to=2026-01-01", "sort=odd", "view=odd", "q=", f"q={'a' * 257}",
        "page=x", "includeNon2xx=maybe", "includeDuplicates=maybe",
    ):  # fmt: skip
        assert (query, served.get(f"/api/search?{query}").status_code) == (query, 422)
    for number in ("9223372036854775808", "-1", "x"):
        assert served.get(f"/api/snapshot/{number}").status_code == 422


def test_any_text_is_a_question(filled: Served) -> None:
    """Whatever it is made of."""
    for q in ("(((((", 'a" OR', "NOT NOT", "title:", "%", "\\", "'; DROP TABLE snapshots", "*"):
        assert (q, filled.get("/api/search", params={"q": q}).status_code) == (q, 200)


def test_a_page_past_the_end_is_empty(filled: Served) -> None:
    """And the total stays (SPEC 80)."""
    found = filled.get("/api/search?page=1000000000000").json()
    assert (found["results"], found["total"]) == ([], 3)


@pytest.mark.parametrize("fast", [True, False])
def test_the_search_knows_the_setting_of_the_fast_way(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, *, fast: bool
) -> None:
    """`PAGES_FASTPATH` holds for programs and pages as for the command."""
    asked: list[bool] = []
    found = archive_search.search

    def search(db: Any, order: SearchOrder, **more: Any) -> Any:
        asked.append(order.fast_pages)
        return found(db, order, **more)

    monkeypatch.setattr(views_of_search, "search", search)
    served = serve(pages_fastpath=fast)
    assert served.get("/api/search?view=pages").status_code == 200
    assert served.get("/search?view=pages").status_code == 200
    assert asked == [fast, fast]
