"""The generator of the reference tables."""

from __future__ import annotations

import pytest

from crawler.db.models import Base
from crawler.db.models.base import ALIKE
from scripts.data_reference import tables
from scripts.reference import _coded, _with_table, example_environment


def test_a_table_takes_the_place_of_the_old_one() -> None:
    """What stands around it stays as it was written."""
    page = "before\n<!-- from the code: x -->\nold\n<!-- end of x -->\nafter\n"
    text = _with_table(page, "x", "new")
    assert text == "before\n<!-- from the code: x -->\n\nnew\n\n<!-- end of x -->\nafter\n"
    assert _with_table(text, "x", "new") == text


@pytest.mark.parametrize("page", ["no marker", "<!-- from the code: x -->", "<!-- end of x -->"])
def test_a_page_without_room_for_its_table_is_refused(page: str) -> None:
    """A lost marker must not lose the table in silence."""
    with pytest.raises(ValueError, match="from the code: x"):
        _with_table(page, "x", "new")


def test_addresses_read_as_code() -> None:
    """Markdown would take their placeholders for something else."""
    assert _coded("redis://HOST, or 10.0.0.0/8") == "`redis://HOST`, or `10.0.0.0/8`"


def test_the_example_sets_nothing() -> None:
    """A copy of .env.example changes no setting until a line is made to speak."""
    lines = example_environment().splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == []
    assert "# DOMAIN_MIN_DELAY_MS=2000" in lines


def test_every_column_is_described_by_its_model() -> None:
    """Beside the column, or because it is alike in every table; nothing is described from elsewhere."""
    described = {(table, column): about for table, _, columns in tables() for column, _, about in columns}
    assert len(described) == sum(len(mapper.local_table.columns) for mapper in Base.registry.mappers)
    assert all(described.values())
    of_alike = [column for (_, column), about in described.items() if about == ALIKE.get(column)]
    assert len(of_alike) < len(described) / 4
