"""Documents as JSON: one way for commands, and for whoever serves them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from attrs import frozen

from crawler.views.documents import as_json, document_of

NOON = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)


@frozen(kw_only=True)
class Short:
    """A document."""

    name: str
    size: int


@frozen(kw_only=True)
class Long(Short):
    """A document with others in it."""

    parts: tuple[Short, ...]

    @property
    def is_empty(self) -> bool:
        """Something that is no field."""
        return not self.parts


def test_a_document_has_what_its_row_has() -> None:
    """Of each field; what is given stands instead, and columns that are no fields stay out."""
    row = SimpleNamespace(name="a", size=1, secret="s")
    assert document_of(Short, row) == Short(name="a", size=1)
    assert document_of(Long, row, size=2, parts=()) == Long(name="a", size=2, parts=())


def test_a_column_that_is_not_there_is_an_error() -> None:
    """A field and its column have one name."""
    with pytest.raises(AttributeError):
        document_of(Short, SimpleNamespace(name="a"))


def test_json_has_the_fields_in_their_order() -> None:
    """Those of a document within a document as well, and nothing else."""
    document = Long(name="a", size=2, parts=(Short(name="b", size=1),))
    assert as_json(document) == '{"name": "a", "size": 2, "parts": [{"name": "b", "size": 1}]}'
    assert json.loads(as_json({"found": [document]}, indent=2))["found"][0]["parts"][0]["name"] == "b"


def test_json_takes_what_rows_hold() -> None:
    """Ids, paths and amounts as text, times in ISO 8601, other scripts as they are."""
    text = as_json(
        {"id": UUID(int=1), "at": NOON, "path": Path("a/b"), "name": "朝霧グラス", "price": Decimal("19.90")}
    )
    assert "朝霧グラス" in text
    assert json.loads(text) == {
        "id": "00000000-0000-0000-0000-000000000001", "at": "2026-05-04T12:30:00+00:00", "path": "a/b",
        "name": "朝霧グラス", "price": "19.90",
    }  # fmt: skip


def test_a_day_is_a_day_and_a_moment_a_moment() -> None:
    """Both in ISO 8601, each as exact as it is."""
    assert json.loads(as_json([NOON.date(), NOON])) == ["2026-05-04", "2026-05-04T12:30:00+00:00"]


def test_what_has_no_place_in_json_is_an_error() -> None:
    """Instead of a guess that programs would come to rely on."""
    with pytest.raises(TypeError, match="set has no place in JSON"):
        as_json({"x": {1}})
