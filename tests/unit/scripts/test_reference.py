"""The generator of the reference tables."""

from __future__ import annotations

from crawler.db.models import Base
from crawler.db.models.base import ALIKE
from scripts.data_reference import tables
from scripts.reference import example_environment


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
