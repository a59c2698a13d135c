"""How documents leave: in camelCase, without a secret, with a tag of what they say."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

from attrs import frozen
from fastapi import Request

from crawler.web.answers import JsonAnswer, shape, tagged

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


@frozen
class Inner:
    """A part of a document."""

    first_seen: date
    a_price: Decimal | None


@frozen
class Outer:
    """A document with others in it."""

    its_id: UUID
    by_name: dict[str, Inner]
    all_parts: tuple[Inner, ...]
    a_part: Inner | None
    explain: str = "only for us"


PART = Inner(date(2026, 5, 1), Decimal("12.50"))
WHOLE = Outer(UUID(int=1), {"a_b": PART}, (PART, PART), None)


def asking(tags: str = "") -> Request:
    """A request of who has these already."""
    return Request({"type": "http", "headers": [(b"if-none-match", tags.encode())]})


def test_documents_have_the_apis_names_however_deep() -> None:
    """Fields are renamed, keys of a site's own are not; what is ours alone is left out."""
    model = shape(Outer, without=("explain",))
    document = model.model_validate(WHOLE).model_dump(mode="json", by_alias=True)
    part = {"firstSeen": "2026-05-01", "aPrice": "12.50"}
    assert document == {
        "itsId": str(UUID(int=1)), "byName": {"a_b": part}, "allParts": [part, part], "aPart": None,
    }  # fmt: skip
    assert shape(Outer, without=("explain",)) is model
    assert model.__doc__ == Outer.__doc__


def test_no_password_leaves_and_any_text_does() -> None:
    """Half a pair of surrogates is no reason to fail."""
    answer = JsonAnswer({"url": "https://me:canary-pw@shop.example/", "text": "\ud800 ü"})
    assert b"canary-pw" not in bytes(answer.body)
    assert json.loads(bytes(answer.body))["text"] == "? ü"


def test_who_has_it_already_is_not_sent_it_again() -> None:
    """By a tag that is the document's, one of several or none; another document is sent."""
    first = tagged(asking(), shape(Outer), WHOLE)
    tag = first.headers["ETag"]
    again = tagged(asking(f'"other", W/{tag}'), shape(Outer), WHOLE)
    assert (first.status_code, again.status_code, bytes(again.body)) == (200, 304, b"")
    assert again.headers["ETag"] == tag
    other = tagged(asking(tag), shape(Inner), PART)
    assert (other.status_code, other.headers["ETag"] != tag) == (200, True)
