"""The column types and conditions of the first release; later changes are later scripts."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

TIME = sa.DateTime(timezone=True)
JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MONEY = sa.Numeric(18, 4).with_variant(sa.BigInteger(), "sqlite")


def only_where(condition: str) -> dict[str, Any]:
    """The condition of a partial index, for both databases."""
    return {"postgresql_where": sa.text(condition), "sqlite_where": sa.text(condition)}
