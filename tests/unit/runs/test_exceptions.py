"""Exceptions of a run on both databases: noted once, counted, listed, resolved."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.catalogue import assets
from crawler.catalogue.plugins import AssetRecord
from crawler.clock import utc_now
from crawler.db.models import CrawlException, Run
from crawler.runs import exceptions
from crawler.runs.exceptions import MAX_MESSAGE_CHARS, MAX_URL_CHARS, MAX_VALUE_CHARS, MAX_VALUES, Stage
from crawler.views import paging
from crawler.views.exceptions import EXCEPTIONS
from crawler.views.paging import ALL, Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.db.engine import Database

URL = "https://shop.example/p/1"
NOW = utc_now().replace(microsecond=0)
HOUR = timedelta(hours=1)


def run(database: Database) -> int:
    """A run."""
    with database.write() as db:
        row = Run(source="shop", plan={}, created_at=NOW)
        db.add(row)
        db.flush()
        return row.id


def note(
    database: Database,
    run_id: int,
    stage: str = "fetch",
    url: str = URL,
    message: str = "HTTP 500",
    **given: Any,
) -> int:
    """Note one."""
    with database.write() as db:
        context, now = given.get("context", {}), given.get("now", NOW)
        return exceptions.note(db, run_id, stage, url, message, context, now)


def rows(database: Database) -> Sequence[CrawlException]:
    """All that there are."""
    with database.read() as db:
        return db.scalars(select(CrawlException).order_by(CrawlException.id)).all()


def listed(database: Database, wanted: Wanted = ALL, **which: Any) -> list[int]:
    """The ids of a listing."""
    with database.read() as db:
        return [each.id for each in paging.listed(db, EXCEPTIONS, wanted, **{"open_only": True, **which})]


def resolve(database: Database, **which: Any) -> int:
    """Close some."""
    with database.write() as db:
        given = {"by": "me", "resolution": "known", "now": NOW + HOUR, **which}
        return exceptions.resolve(db, **given)


def test_what_comes_again_is_counted(database: Database) -> None:
    """One row for a stage, URL and message of a run, with the context of the last time."""
    first, second = run(database), run(database)
    key = note(database, first, context={"attempt": 1})
    assert note(database, first, context={"attempt": 2}, now=NOW + HOUR) == key
    others = [
        note(database, first, "parse"),
        note(database, first, url=URL + "1"),
        note(database, first, message="HTTP 501"),
        note(database, second),
    ]
    assert len({key, *others}) == 5
    found = {row.id: row for row in rows(database)}
    assert len(found) == 5
    assert (found[key].times, found[key].context) == (2, {"attempt": 2})
    assert (found[key].created_at, found[key].last_at) == (NOW, NOW + HOUR)
    assert {found[other].times for other in others} == {1}


class Unspeakable:
    """Cannot be written down."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_nothing_in_it_can_fail_the_page(database: Database) -> None:
    """Texts are cut, passwords go, and what no database takes is written otherwise."""
    context = {
        "nan": float("nan"), "big": 10**5000, "none": None, "yes": True, "number": 2.5, "nul": "a\x00b\ud800",
        "url": "https://me:secret@shop.example/", "long": "x" * 10_000, "when": HOUR, "who": Unspeakable(),
        "deep": {"a": {"b": {"c": {"d": {"e": 1}}}}}, 5: [1, (2, {3})], "many": list(range(1000)), "after": 1,
    }  # fmt: skip
    note(
        database,
        run(database),
        "plugin",
        "https://me:secret@shop.example/\x00" + "a" * 20_000,
        "not \ud800 good: https://me:secret@shop.example/?password=secret " + "y" * 5000,
        context=context,
    )
    [row] = rows(database)
    assert (len(row.url), len(row.message)) == (MAX_URL_CHARS, MAX_MESSAGE_CHARS)
    assert row.url.startswith("https://me:***@shop.example/\ufffda")
    assert "secret" not in f"{row.url}{row.message}{row.context}"
    assert row.message.startswith("not ? good: https://me:***@shop.example/?password=*** y")
    kept = row.context
    assert kept["big"] == "int"
    assert (kept["nan"], kept["none"], kept["yes"], kept["number"]) == ("nan", None, True, 2.5)
    assert (kept["nul"], kept["when"], kept["who"]) == ("a\ufffdb?", "1:00:00", "Unspeakable")
    assert (len(kept["long"]), kept["5"]) == (MAX_VALUE_CHARS, [1, [2, [3]]])
    assert kept["deep"] == {"a": {"b": {"c": "{'d': {'e': 1}}"}}}
    assert len(kept["many"]) < MAX_VALUES
    assert "after" not in kept


@pytest.mark.parametrize(
    ("which", "left"),
    [
        ({"ids": [1, 2, 999]}, [3, 4]),
        ({"ids": []}, [1, 2, 3, 4]),
        ({"run_id": 1}, [4]),
        ({"run_id": 1, "stage": Stage.FETCH}, [2, 3, 4]),
        ({"ids": [1, 2, 3], "stage": Stage.PLUGIN}, [1, 2, 4]),
    ],
)
def test_those_that_are_meant_are_resolved(
    database: Database, which: dict[str, Any], left: list[int]
) -> None:
    """And no other; by whom, when and why stays."""
    first, second = run(database), run(database)
    keys = [note(database, first), note(database, first, "parse"), note(database, first, "plugin")]
    keys.append(note(database, second))
    assert [first, second, *keys] == [1, 2, 1, 2, 3, 4]
    assert resolve(database, **which) == 4 - len(left)
    assert sorted(listed(database)) == left
    for row in rows(database):
        if row.id not in left:
            assert (row.resolved_by, row.resolution, row.resolved_at) == ("me", "known", NOW + HOUR)
    assert resolve(database, **which, by="other") == 0
    with pytest.raises(ValueError, match="name what is resolved"):
        resolve(database)


def test_one_that_comes_again_is_open_again(database: Database) -> None:
    """Whoever resolved it was mistaken."""
    now = run(database)
    key = note(database, now)
    resolve(database, run_id=now)
    assert note(database, now) == key
    [row] = rows(database)
    assert (row.resolved_at, row.resolved_by, row.resolution, row.times) == (None, None, None, 2)


def test_what_disappeared_is_noted_by_its_url(database: Database) -> None:
    """Once for all assets of a URL, in the run that missed them first."""
    runs = [run(database) for _ in range(3)]
    records = [
        (plugin, AssetRecord("thing", f"{plugin} {number}", f"https://shop.example/{number}"))
        for number in range(3)
        for plugin in ("page", "product")
    ]
    with database.write() as db:
        assets.see(db, assets.Sight(None, NOW, runs[0], "shop"), records)
    for later, noted in ((runs[1], 2), (runs[2], 0)):
        now = NOW + (later - runs[0]) * HOUR
        with database.write() as db:
            assets.see(db, assets.Sight(None, now, later, "shop"), records[:2])
            assets.mark_missing(db, "shop", later, now)
            assert exceptions.note_disappeared(db, later, now) == noted
            assert exceptions.note_disappeared(db, later, now) == 0
    found = rows(database)
    assert sorted((row.url, row.times) for row in found) == [
        ("https://shop.example/1", 2),
        ("https://shop.example/2", 2),
    ]
    assert [row.context for row in found] == [{}, {}]
    assert {(row.run_id, row.stage, row.created_at, row.last_at, row.resolved_at) for row in found} == {
        (runs[1], "disappeared", NOW + HOUR, NOW + HOUR, None)
    }
