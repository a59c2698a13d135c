"""Which artifacts may be read, and how one is found by a few letters of its id."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from sqlalchemy import and_, or_, select

from crawler.db.models.evidence import Artifact
from crawler.errors import NotFoundError
from crawler.evidence import packing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from crawler.evidence.blobs import BlobStore

GZIPPED_TYPES = frozenset({"html_gz"})
_ID_DIGITS = 32
_HINT = "`vitrine sessions show` lists them"


def is_readable(now: datetime) -> ColumnElement[bool]:
    """Neither deleted nor just being deleted; a cleaner's claim hides a row until its lease is over."""
    free = or_(Artifact.cleanup_claim.is_(None), Artifact.cleanup_claimed_until < now)
    return and_(Artifact.deleted_at.is_(None), free)


def find(db: Session, prefix: str) -> Artifact:
    """The artifact whose id is, or begins with, `prefix`, deleted or not."""
    digits = prefix.replace("-", "").lower()
    if not digits or len(digits) > _ID_DIGITS or set(digits) - set("0123456789abcdef"):
        raise NotFoundError(
            f"{prefix!r} is not the id of an artifact", hint="`vitrine sessions show` lists them"
        )
    first, last = (UUID(digits.ljust(_ID_DIGITS, fill)) for fill in "0f")
    found = list(db.scalars(select(Artifact).where(Artifact.id.between(first, last)).limit(2)))
    if len(found) == 1:
        return found[0]
    how = "several artifacts begin" if found else "no artifact begins"
    raise NotFoundError(f"{how} with {prefix!r}", hint=_HINT)


def decoded(blobs: BlobStore, artifact: Artifact) -> Iterator[bytes]:
    """An artifact's content, unpacked where it is packed, a piece at a time."""
    chunks = blobs.stream(artifact.storage_uri)
    return packing.gunzipped_chunks(chunks) if artifact.type in GZIPPED_TYPES else chunks
