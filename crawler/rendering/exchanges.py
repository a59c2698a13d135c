"""What a page sent and received, as its browser hands it out, for WARC files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.async_api import Error

from crawler.clock import utc_now
from crawler.warc.messages import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playwright.async_api import Response

    from crawler.warc.messages import Headers

MOST_BYTES = 64 * 1024 * 1024  # of all bodies of one page
# Of the body as it went over the wire; the browser hands it out unpacked.
_OF_PACKING = {"content-encoding", "content-length", "transfer-encoding"}
_NOT_KEPT = "unspecified"  # in the format's words: the browser has let go of the body


async def exchanges_of(answers: Iterable[Response]) -> list[Exchange]:
    """Every answer that a page got over the network, in its order; bodies as far as they are bounded."""
    found, left = [], MOST_BYTES
    for answer in answers:
        if not answer.url.startswith(("http://", "https://")):
            continue
        try:
            exchange = await _exchange_of(answer, left)
        except Error:
            continue  # its frame is gone, and what it asked with it
        left -= len(exchange.body)
        found.append(exchange)
    return found


async def _exchange_of(answer: Response, most: int) -> Exchange:
    request = answer.request
    asked, got = await request.headers_array(), await answer.headers_array()
    address = await answer.server_addr()
    try:
        body, truncated = await answer.body(), None
    except Error:  # a redirect has none
        body, truncated = b"", None if answer.headers.get("location") else _NOT_KEPT
    if len(body) > most:
        body, truncated = body[: max(most, 0)], "length"
    return Exchange(
        url=answer.url,
        captured_at=utc_now(),
        method=request.method.encode(),
        request_headers=_flat((each["name"], each["value"]) for each in asked if each["name"][:1] != ":"),
        protocol=b"HTTP/1.1",
        status=answer.status,
        reason=answer.status_text.encode("latin-1", "replace"),
        headers=_flat((each["name"], each["value"]) for each in got if _is_of_answer(each["name"])),
        body=body,
        request_body=request.post_data_buffer or b"",
        ip_address=address["ipAddress"].strip("[]") if address else None,
        truncated=truncated,
    )


def _is_of_answer(name: str) -> bool:
    return name.lower() not in _OF_PACKING and not name.startswith(":")


def _flat(headers: Iterable[tuple[str, str]]) -> Headers:
    return tuple((name.encode("latin-1", "replace"), value.encode("utf-8")) for name, value in headers)
