"""What a page sent and received, as its browser hands it out, for WARC files."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from playwright.async_api import Error

from crawler.access.egress import host_name
from crawler.clock import utc_now
from crawler.crawl.rendered import rendered_in
from crawler.rendering.documents import OF_PACKING
from crawler.urls import host_of
from crawler.warc.messages import Exchange, Resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from playwright.async_api import Request, Response
    from scrapy.http import Response as SeenResponse

    from crawler.rendering.traffic import Traffic
    from crawler.warc.messages import Headers

HEADERS_SECONDS = 5.0  # that the browser may take to tell headers
MOST_BYTES = 64 * 1024 * 1024  # of all bodies of one page
# Of the body as it went over the wire; the browser hands it out unpacked.
_NOT_KEPT = "unspecified"  # in the format's words: the browser has let go of the body
# What a browser hands out as text that it has decoded; it is UTF-8 then, and the record says so.
_DECODED = {"document", "stylesheet", "script", "xhr", "fetch", "manifest"}
_CHARSET = re.compile(r"\s*;\s*charset\s*=[^;]*", re.IGNORECASE)


async def exchanges_of(traffic: Traffic, addresses: Mapping[str, str]) -> list[Exchange]:
    """Every answer that a page got over the network, in its order; bodies as far as they are bounded.

    `addresses` are those that hosts were reached at.
    """
    found, left = [], MOST_BYTES
    for answer in traffic.answers:
        if not answer.url.startswith(("http://", "https://")):
            continue
        sent = traffic.document.body if answer is traffic.answer else None
        try:
            exchange = await _exchange_of(answer, sent, left, addresses)
        except Error:
            continue  # its frame is gone, and what it asked with it
        left -= len(exchange.body)
        found.append(exchange)
    return found


def made_of(response: SeenResponse) -> list[Resource]:
    """What was made of a page, and never went over a wire: its document as it stood, and its picture."""
    rendered = rendered_in(response)
    if rendered is None:
        return []
    made = [("dom", (response.headers.get("Content-Type") or b"").decode("latin-1"), response.body)]
    if rendered.screenshot:
        made.append(("screenshot", "image/png", rendered.screenshot))
    return [
        Resource(f"urn:vitrine:{what}:{rendered.viewport}:", response.url, utc_now(), kind, body)
        for what, kind, body in made
    ]


async def _exchange_of(
    answer: Response, sent: bytes | None, most: int, addresses: Mapping[str, str]
) -> Exchange:
    request = answer.request
    asked, got = await _headers_of(request), await _headers_of(answer)
    headers = [(name, value) for name, value in got if _is_of_answer(name)]
    truncated = None
    try:
        body = await answer.body() if sent is None else sent
    except Error:  # a redirect has none
        body, truncated = b"", None if answer.headers.get("location") else _NOT_KEPT
    if sent is None and request.resource_type in _DECODED and not body.isascii():
        headers = [(name, _as_utf8(name, value)) for name, value in headers]
    if len(body) > most:
        body, truncated = body[: max(most, 0)], "length"
    return Exchange(
        url=answer.url,
        captured_at=utc_now(),
        method=request.method.encode(),
        request_headers=_flat((name, value) for name, value in asked if name[:1] != ":"),
        protocol=b"HTTP/1.1",
        status=answer.status,
        reason=answer.status_text.encode("latin-1", "replace"),
        headers=_flat(headers),
        body=body,
        request_body=request.post_data_buffer or b"",
        ip_address=addresses.get(host_name(host_of(answer.url))),
        truncated=truncated,
    )


async def _headers_of(message: Request | Response) -> list[tuple[str, str]]:
    """All headers, as often as they came; those that the browser knew at first, where it tells no more."""
    try:
        async with asyncio.timeout(HEADERS_SECONDS):
            return [(each["name"], each["value"]) for each in await message.headers_array()]
    except TimeoutError:
        # There those of one name are one, a line each.
        return [(name, each) for name, value in message.headers.items() for each in value.split("\n")]


def _is_of_answer(name: str) -> bool:
    return name.lower() not in OF_PACKING and not name.startswith(":")


def _as_utf8(name: str, value: str) -> str:
    """A header of a text that the browser has decoded: the type names the charset that it is in now."""
    if name.lower() != "content-type":
        return value
    is_text = re.match(r"\s*(?:text/|[^;]*(?:javascript|json|xml))", value, re.IGNORECASE)
    return f"{_CHARSET.sub('', value)}; charset=utf-8" if is_text else value


def _flat(headers: Iterable[tuple[str, str]]) -> Headers:
    return tuple(
        (name.encode("latin-1", "replace"), value.encode("utf-8", "replace")) for name, value in headers
    )
