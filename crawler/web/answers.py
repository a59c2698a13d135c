"""How documents leave: as JSON in camelCase, without a secret of any URL."""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from types import GenericAlias, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from attrs import fields, has
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, create_model
from pydantic.alias_generators import to_camel

from crawler.urls import redacted

_TAG_CHARS = 32
# What views name for the type checker only.
_TYPES = {each.__name__: each for each in (date, datetime, Decimal, UUID)}


class JsonAnswer(JSONResponse):
    """A JSON document; passwords in URLs are taken out wherever they stand."""

    def render(self, content: Any) -> bytes:
        """The bytes on the wire."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return redacted(text).encode("utf-8", "replace")


def in_camel(document: Any) -> Any:
    """Return a JSON document with its keys in camelCase, however deep they stand."""
    if isinstance(document, dict):
        return {to_camel(name): in_camel(value) for name, value in document.items()}
    return [in_camel(each) for each in document] if isinstance(document, list) else document


def tagged(request: Request, model: type[BaseModel], document: object) -> Response:
    """A view's document with an ETag of what it says; 304 to whoever has it already."""
    answer: Response = JsonAnswer(model.model_validate(document).model_dump(mode="json", by_alias=True))
    tag = f'"{hashlib.sha256(bytes(answer.body)).hexdigest()[:_TAG_CHARS]}"'
    if tag in request.headers.get("if-none-match", ""):
        answer = Response(status_code=304)
    answer.headers.update({"ETag": tag, "Cache-Control": "no-cache"})
    return answer


class ErrorModel(BaseModel):
    """What is said of a request that was refused, or failed."""

    error: str
    code: str
    detail: str
    hint: str | None = None
    problems: list[str] | None = None


class _Document(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, from_attributes=True, frozen=True
    )


@cache
def shape(kind: type[Any], *, without: tuple[str, ...] = ()) -> type[BaseModel]:
    """A view's document as the API has it: the same fields, in camelCase (SPEC 70)."""
    hints = get_type_hints(kind, localns=_TYPES)
    names = [field.name for field in fields(kind) if field.name not in without]
    known: dict[str, Any] = {name: (_shaped(hints[name]), ...) for name in names}
    model: type[BaseModel] = create_model(kind.__name__, __base__=_Document, __doc__=kind.__doc__, **known)
    return model


def _shaped(hint: Any) -> Any:
    """A type whose documents are shaped, however deep they stand."""
    if isinstance(hint, type) and has(hint):
        return shape(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None:
        return hint
    shaped = tuple(each if each is Ellipsis else _shaped(each) for each in inner)
    if origin in {UnionType, Union}:
        return Union[shaped]  # ruff: ignore[non-pep604-annotation-union] - its parts are made here
    return GenericAlias(origin, shaped)
