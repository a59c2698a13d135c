"""What addresses may carry: a form's odd values are told or left out, and never an error."""

from __future__ import annotations

from datetime import date

import pytest

from crawler.web.parameters import MAX_NUMBER, address_of, chips, day_of, number_of


@pytest.mark.parametrize(("given", "number"), [
    ("1", 1), ("20", 20), ("007", 7), ("", 1), ("0", 1), ("000", 1), ("-3", 1), ("1.5", 1), ("1e9", 1),
    ("x", 1), (" 2", 1), ("2\n", 1), ("²", 1), ("٣", 1), ("1_0", 1),
    ("9007199254740993", MAX_NUMBER), ("9" * 5_000, MAX_NUMBER), ("0" * 5_000 + "3", 3),
])  # fmt: skip
def test_the_number_of_a_page(given: str, number: int) -> None:
    """The first one where it is none; however long it is, no more than a database takes."""
    assert number_of(given) == number


def test_a_day() -> None:
    """As the forms of pages write it; nothing given is nothing said."""
    remarks: list[str] = []
    assert day_of("2026-05-31", remarks) == date(2026, 5, 31)
    assert day_of("2024-02-29", remarks) == date(2024, 2, 29)
    assert day_of("", remarks) is None
    assert remarks == []


@pytest.mark.parametrize("given", [
    "2026-02-30", "0000-01-01", "2026-5-1", "20260531", "2026-05-31\n", "2026-05-31T00:00", "yesterday",
    "1700000000", "\u0662\u0660\u0662\u0666-\u0660\u0665-\u0663\u0661", "2026-W01-1", "\x00",
])  # fmt: skip
def test_what_is_no_day_is_told(given: str) -> None:
    """In a sentence that says how one is written."""
    remarks: list[str] = []
    assert day_of(given, remarks) is None
    assert [given in remark and "2026-05-31" in remark for remark in remarks] == [True]


def test_the_address_of_a_page() -> None:
    """The first page goes without its number, and without a question it is the list alone."""
    assert address_of("/search", {}) == "/search"
    assert address_of("/search", {"q": "a b"}) == "/search?q=a+b"
    assert address_of("/search", {"q": "a b"}, 2) == "/search?q=a+b&page=2"


def test_each_part_of_a_question_can_be_taken_out() -> None:
    """What has no label is no part of its own, and stays in the others."""
    asked = {"q": "cup", "source": "shop", "from": "2026-01-01"}
    assert chips("/search", asked, {"source": "site {}", "from": "since {}"}) == [
        ("site shop", "/search?q=cup&from=2026-01-01"), ("since 2026-01-01", "/search?q=cup&source=shop"),
    ]  # fmt: skip
