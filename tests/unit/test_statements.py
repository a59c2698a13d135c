"""Tests' engines share what they have compiled, each kind of database its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import literal, select

from crawler.db.engine import Database
from tests.statements import STATEMENTS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_statement_is_compiled_once_for_each_kind(tmp_path: Path, postgres_database: str) -> None:
    """The second database of a kind finds it; values stay its own, and so does the other kind's SQL."""
    compiled = []
    files = [f"sqlite:///{tmp_path / name}" for name in ("a.db", "b.db")]
    for place, url in enumerate((*files, postgres_database, postgres_database)):
        database = Database(url)
        with database.read() as db:
            before = len(STATEMENTS)
            assert db.scalar(select(literal(place).label("asked_for_here_alone"))) == place
        compiled.append(len(STATEMENTS) - before)
        database.close()
    assert compiled == [1, 0, 1, 0]
