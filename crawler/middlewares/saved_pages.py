"""Answers from files, for spiders and contracts that look at saved pages: no network is touched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.http import HtmlResponse
from scrapy.utils.asyncio import run_in_thread

from crawler.evidence.files import gunzipped

if TYPE_CHECKING:
    from scrapy import Request

SAVED_PAGE = "saved_page"  # the meta key that names the file
GZIP = b"\x1f\x8b"


def saved_page_meta(path: Path) -> dict[str, Any]:
    """What makes a request be answered from a file."""
    return {SAVED_PAGE: str(path)}


class SavedPageMiddleware:
    """Stands before the gate: a saved page needs nobody's leave."""

    async def process_request(self, request: Request) -> HtmlResponse | None:
        """The file that the request's meta names, as a response."""
        path = request.meta.get(SAVED_PAGE)
        if path is None:
            return None
        body = await run_in_thread(_read, Path(path))
        return HtmlResponse(request.url, body=body, request=request)


def _read(path: Path) -> bytes:
    data = path.read_bytes()
    return gunzipped(data) if data.startswith(GZIP) else data
