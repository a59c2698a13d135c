"""`vitrine export`: a file is there when it is complete, and what was given out is on record."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from crawler.cli import export as command
from crawler.db.models import ExportRecord
from tests.unit.views.rows import a_listing, a_page, a_run, a_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from crawler.db.engine import Database
    from tests.unit.cli.conftest import Vitrine


def records(database: Database) -> list[tuple[str, str, str, int, str]]:
    """What is on record."""
    with database.read() as db:
        found = db.scalars(select(ExportRecord).order_by(ExportRecord.id))
        return [(row.what, row.format, row.destination, row.row_count, row.status) for row in found]


def test_rows_are_written_and_counted(vitrine: Vitrine, database: Database, database_url: str) -> None:
    """To standard output or into a file; the line of names is no row."""
    with database.write() as db:
        db.add_all([a_listing(), a_listing()])
    lines = vitrine("export", "listings", "--format", "jsonl", DATABASE_URL=database_url).out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["A chair"] * 2
    done = vitrine("export", "listings", "--out", "all.csv")
    assert (done.out, done.err) == ("", "2 listings written to all.csv\n")
    assert len(Path("all.csv").read_text(encoding="utf-8").splitlines()) == 3
    assert records(database) == [
        ("listings", "jsonl", "-", 2, "complete"), ("listings", "csv", "all.csv", 2, "complete"),
    ]  # fmt: skip


def test_pipes_stay_and_links_are_followed(
    vitrine: Vitrine, database: Database, database_url: str, tmp_path: Path
) -> None:
    """Neither is put away for a file of its name."""
    with database.write() as db:
        db.add(a_listing())
    pipe, link, folder = (tmp_path / name for name in ("pipe", "link.csv", "folder"))
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to(folder / "all.csv")
    with os.fdopen(os.open(pipe, os.O_RDWR), "rb", buffering=0) as hears:  # and holds nobody up
        assert vitrine("export", "listings", "--out", str(pipe), DATABASE_URL=database_url).code == 0
        assert b"A chair" in hears.read(65_536)
    assert vitrine("export", "listings", "--out", str(link)).code == 0
    assert (pipe.is_fifo(), link.is_symlink()) == (True, True)
    assert [path.name for path in folder.iterdir()] == ["all.csv"]
    done = vitrine("export", "listings", "--out", str(folder))
    assert (done.code, "Is a directory" in done.err) == (2, True)


def test_what_breaks_off_leaves_no_file(
    vitrine: Vitrine, database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it was tried is on record."""

    def broken(*_: object) -> Iterator[str]:
        yield "names\n"
        yield "row\n"
        raise RuntimeError("away")

    monkeypatch.setattr(command, "lines", broken)
    assert vitrine("export", "prices", "--out", "all.csv", DATABASE_URL=database_url).code == 1
    assert list(Path().glob("*all.csv*")) == []
    assert records(database) == [("prices", "csv", "all.csv", 1, "failed")]


def test_a_part_is_written_of_each_kind(vitrine: Vitrine, database: Database, database_url: str) -> None:
    """By domain and by days; of sessions, pages, assets and runs too, and for Excel with a mark."""
    session = a_session(domain="shop.example")
    with database.write() as db:
        db.add_all([a_listing(domain="shop.example"), a_listing(domain="other.example"), session, a_run()])
        db.flush()
        db.add(a_page(session.id))

    def count(*line: str) -> int:
        done = vitrine("export", *line, "--format", "jsonl", DATABASE_URL=database_url)
        assert done.code == 0, done.err
        return len(done.out.splitlines())

    assert (count("products"), count("listings")) == (2, 2)
    assert count("products", "--domain", "https://www.shop.example/") == 1
    for kind in ("sessions", "pages", "runs"):
        assert (count(kind), count(kind, "--until", "1999-01-01"), count(kind, "--since", "1999-01-01")) == (
            1, 0, 1,
        )  # fmt: skip
    assert count("assets") == 0
    assert vitrine("export", "prices", "--excel").out.startswith("\ufeffid,")
