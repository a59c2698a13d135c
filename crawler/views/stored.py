"""Pages and files of many sessions, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.db.models import Artifact, CrawlSession, Page
from crawler.views.paging import Resource, equals, having, of_named_session
from crawler.views.sessions import ArtifactDocument, PageDocument

if TYPE_CHECKING:
    from uuid import UUID


@frozen(kw_only=True)
class ListedPage(PageDocument):
    """A page, with its session's domain."""

    session_id: UUID
    domain: str
    cause: str | None  # of its session's end


@frozen(kw_only=True)
class ListedArtifact(ArtifactDocument):
    """A file, with its session's domain."""

    session_id: UUID
    domain: str


PAGES = Resource(
    table=Page,
    by=(Page.created_at, Page.id),
    time=Page.created_at,
    domain=equals(CrawlSession.domain),
    cause=equals(CrawlSession.cause),
    query=select(Page, CrawlSession.domain, CrawlSession.cause).join(
        CrawlSession, CrawlSession.id == Page.session_id
    ),
    document=ListedPage,
    filters={
        "session": of_named_session(Page.session_id), "status": having(Page.status),
        "page_type": having(Page.page_type),
    },
)  # fmt: skip
ARTIFACTS = Resource(
    table=Artifact,
    by=(Artifact.created_at, Artifact.id),
    time=Artifact.created_at,
    domain=equals(CrawlSession.domain),
    cause=equals(CrawlSession.cause),
    query=select(Artifact, CrawlSession.domain).join(CrawlSession, CrawlSession.id == Artifact.session_id),
    document=ListedArtifact,
    filters={"session": of_named_session(Artifact.session_id), "kind": having(Artifact.type)},
)
