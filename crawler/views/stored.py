"""Pages and files of many sessions, the newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen
from sqlalchemy import select

from crawler.db import lookup
from crawler.db.models import Artifact, CrawlSession, Page
from crawler.views.documents import document_of
from crawler.views.paging import ALL, Columns, Newest, equals, page
from crawler.views.sessions import ArtifactDocument, PageDocument

if TYPE_CHECKING:
    from uuid import UUID

    from sqlalchemy import Select
    from sqlalchemy.orm import Session

    from crawler.views.paging import Wanted

_OF_SESSION = {"domain": equals(CrawlSession.domain), "cause": equals(CrawlSession.cause)}
PAGES = Newest(
    table=Page,
    by=(Page.created_at, Page.id),
    time=Page.created_at,
    **_OF_SESSION,
)
ARTIFACTS = Newest(
    table=Artifact,
    by=(Artifact.created_at, Artifact.id),
    time=Artifact.created_at,
    **_OF_SESSION,
)


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


def newest_pages(
    db: Session,
    wanted: Wanted = ALL,
    *,
    session: str | None = None,
    status: str | None = None,
    page_type: str | None = None,
) -> list[ListedPage]:
    """The pages fetched last, of one session, one end or one type where that is wanted."""
    query = select(Page, CrawlSession.domain, CrawlSession.cause).join(
        CrawlSession, CrawlSession.id == Page.session_id
    )
    query = _of_session(db, query, session)
    query = query.where(Page.status == status) if status else query
    query = query.where(Page.page_type == page_type) if page_type else query
    found = db.execute(page(db, query, PAGES, wanted))
    return [document_of(ListedPage, row, domain=domain, cause=cause) for row, domain, cause in found]


def newest_artifacts(
    db: Session, wanted: Wanted = ALL, *, session: str | None = None, kind: str | None = None
) -> list[ListedArtifact]:
    """The files stored last, of one session or one type where that is wanted; those that are gone as well."""
    query = select(Artifact, CrawlSession.domain).join(CrawlSession, CrawlSession.id == Artifact.session_id)
    query = _of_session(db, query, session)
    query = query.where(Artifact.type == kind) if kind else query
    found = db.execute(page(db, query, ARTIFACTS, wanted))
    return [document_of(ListedArtifact, row, domain=domain) for row, domain in found]


def _of_session(db: Session, query: Select[*Columns], session: str | None) -> Select[*Columns]:
    """What belongs to the session whose id begins so."""
    if session is None:
        return query
    return query.where(CrawlSession.id == lookup.find(db, CrawlSession, session).id)
