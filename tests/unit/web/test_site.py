"""What every answer stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request

from crawler.config import load_settings
from crawler.stores import open_stores
from crawler.web.app import create_app
from crawler.web.site import _reading, site_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_site_is_that_of_its_app(sqlite_database: str, tmp_path: Path) -> None:
    """Two apps in one process do not see each other's; a look at the database ends with its request."""
    with (
        open_stores(
            load_settings({"vitrine_home": tmp_path / "a", "database_url": sqlite_database})
        ) as first,
        open_stores(
            load_settings({"vitrine_home": tmp_path / "b", "database_url": sqlite_database})
        ) as second,
    ):
        apps = [create_app(stores) for stores in (first, second)]
        sites = [site_of(Request({"type": "http", "app": app})) for app in apps]
        assert [site.settings.vitrine_home.name for site in sites] == ["a", "b"]
        assert [site.blobs for site in sites] == [first.blobs, second.blobs]
        looking = _reading(sites[0])
        db = next(looking)
        assert db.in_transaction()
        looking.close()
        assert not db.in_transaction()
