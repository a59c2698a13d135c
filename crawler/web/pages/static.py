"""Style, script and signs of the pages; there is nothing that another host has to give."""

from __future__ import annotations

from pathlib import PurePath

from fastapi import APIRouter, Request, Response

from crawler.errors import NotFoundError
from crawler.web.rendering import STATIC_TYPES, digest_of, static_file

router = APIRouter(include_in_schema=False)
FOREVER = "public, max-age=31536000, immutable"
A_WHILE = "public, max-age=300"


@router.get("/static/{name}")
def static(request: Request, name: str, v: str = "") -> Response:
    """One file; under its digest it may be kept for ever."""
    content, kind = static_file(name), STATIC_TYPES.get(PurePath(name).suffix)
    if content is None or kind is None:
        raise NotFoundError("there is no such file")
    tag = f'"{digest_of(name)}"'
    headers = {"ETag": tag, "Cache-Control": FOREVER if v == digest_of(name) else A_WHILE}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


@router.get("/favicon.ico")
def favicon() -> Response:
    """The sign that browsers ask for by themselves."""
    return Response(
        static_file("vitrine.svg"), media_type="image/svg+xml", headers={"Cache-Control": A_WHILE}
    )
