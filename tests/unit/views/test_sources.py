"""Sources as documents: what is odd, and what they make of a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.db.models import RegisteredSource
from crawler.runs.sources import Source, known_plugins
from crawler.views import sources
from tests.unit.views.rows import THEN

if TYPE_CHECKING:
    from crawler.db.engine import Database

SHOP = Source.of_url("https://shop.example/")


def test_a_url_is_judged_by_the_source() -> None:
    """With the rule that decides; no password is repeated."""
    checked = sources.check(
        SHOP, known_plugins(), ["https://shop.example/p", "https://me:secret@other.example/"]
    )
    assert (checked.source, checked.ok, checked.oddities) == (SHOP.code, True, ())
    ours, other = checked.urls
    assert (ours.url, ours.allowed, ours.reason) == ("https://shop.example/p", True, None)
    assert not other.allowed
    assert other.reason
    assert other.told
    assert "secret" not in other.url


def test_what_is_odd_is_told() -> None:
    """Here plugins that nobody has."""
    checked = sources.check(SHOP, (), ())
    assert not checked.ok
    assert {odd.key for odd in checked.oddities} == {"plugins"}
    assert checked.urls == ()


def test_sources_of_the_file_and_of_the_register_are_one_list(database: Database) -> None:
    """By their codes; the file is believed where both know a source, and one that it lost is still there."""
    with database.write() as db:
        for code, name in ((SHOP.code, "as it was called"), ("lost", "Lost")):
            db.add(RegisteredSource(code=code, name=name, enabled=False, created_at=THEN, updated_at=THEN))
    with database.read() as db:
        found = {each.code: each for each in sources.items(db, {SHOP.code: SHOP, "a-new": SHOP})}
    assert list(found) == sorted(["a-new", "lost", SHOP.code])
    both, new, lost = found[SHOP.code], found["a-new"], found["lost"]
    assert (both.name, both.enabled, both.is_registered, both.start_urls) == (
        SHOP.name, SHOP.enabled, True, list(SHOP.start_urls)
    )  # fmt: skip
    assert (new.is_registered, new.engine) == (False, SHOP.engine)
    assert (lost.name, lost.base_url, lost.enabled, lost.is_registered) == ("Lost", "", False, True)
