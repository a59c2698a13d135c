"""Which other origins' scripts may read the API (SPEC 6); none of them gets further than anybody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Response
from starlette.datastructures import Headers

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import Scope

API = "/api/"
METHODS = "GET, HEAD, OPTIONS"
PREFLIGHT_SECONDS = 600


class Cors:
    """Says so, on refusals too: without it a browser takes them for a broken network."""

    def __init__(self, origins: Collection[str]) -> None:
        self._origins = origins

    def headers_for(self, scope: Scope) -> dict[str, str]:
        """What an answer says of it."""
        if not scope["path"].startswith(API):
            return {}
        origin = Headers(scope=scope).get("origin", "")
        if origin not in self._origins:
            return {"Vary": "Origin"}
        return {
            "Vary": "Origin",
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": "X-Request-Id",
        }

    def answer(self, scope: Scope) -> Response | None:
        """The answer to a browser that asks whether it may ask."""
        headers = Headers(scope=scope)
        asks = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if not asks or not scope["path"].startswith(API):
            return None
        if headers.get("origin", "") not in self._origins:
            return Response(status_code=403)
        wanted = headers.get("access-control-request-headers", "")
        allowed = {
            "Access-Control-Allow-Methods": METHODS,
            "Access-Control-Max-Age": str(PREFLIGHT_SECONDS),
        }
        if wanted:
            allowed["Access-Control-Allow-Headers"] = wanted
        return Response(status_code=204, headers=allowed)
