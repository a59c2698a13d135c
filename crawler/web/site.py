"""What every answer stands on: the settings and the stores, opened once for the whole process."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Annotated

from attrs import frozen
from fastapi import Depends, Request

from crawler.config import Settings
from crawler.db.engine import Database, Transaction
from crawler.evidence.blobs import BlobStore
from crawler.stores import Stores

if TYPE_CHECKING:
    from crawler.web.metrics import Figures


@frozen
class Site:
    """The stores as the web side uses them."""

    stores: Stores
    figures: Figures

    @property
    def settings(self) -> Settings:
        """What the operator set."""
        return self.stores.settings

    @property
    def database(self) -> Database:
        """Where rows are read, and actions written."""
        return self.stores.database

    @property
    def blobs(self) -> BlobStore:
        """Where artifacts lie."""
        return self.stores.blobs


def site_of(request: Request) -> Site:
    """The site that a request came to."""
    site: Site = request.app.state.site
    return site


async def _site_here(request: Request) -> Site:  # ruff: ignore[unused-async] - a plain one is given a thread
    """The same, as a route asks for it."""
    return site_of(request)


def _reading(site: SiteHere) -> Generator[Transaction]:
    with site.database.read() as db:
        yield db


SiteHere = Annotated[Site, Depends(_site_here)]
# A look into the database that ends before the answer is sent.
Reading = Annotated[Transaction, Depends(_reading, scope="function")]
