"""`vitrine cleanup`: what policy says is to go, goes."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
