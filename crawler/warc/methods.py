"""Requests with other methods than GET, and the URLs that their answers are looked up by. Pure.

The convention is pywb's: the method and what was sent become parameters of the query, so that the answer to a
form is never found by who asks for the page.
"""

from __future__ import annotations

import json
from base64 import b64encode
from email import message_from_bytes
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus, urlencode

from crawler.urls import redacted

if TYPE_CHECKING:
    from collections.abc import Iterator

GET = "GET"
_WITH_BODY = frozenset({"POST", "PUT"})
_MOST_CHARS = 4096  # of what was sent
_DEEPEST = 64  # levels of a JSON document


def lookup_url(url: str, method: str, content_type: str = "", body: bytes = b"") -> str:
    """Return the URL that an answer is looked up by: its own for GET, else with the request in its query."""
    if method == GET:
        return url
    sent = sent_query(content_type, body) if method in _WITH_BODY and body else ""
    more = f"__wb_method={method}" + (redacted(f"&{sent}") if sent else "")  # indexes are public
    return f"{url}{'&' if '?' in url else '?'}{more}"


def sent_query(content_type: str, body: bytes) -> str:
    """Return a request's body as parameters of a query."""
    kind = content_type.strip().lower()
    if kind.startswith("application/x-www-form-urlencoded"):
        query = _form(body)
    elif kind.startswith("multipart/"):
        query = _parts(content_type, body)
    elif kind.startswith("application/json"):
        query = _json(body) or ""
    elif kind.startswith("text/plain"):
        query = _json(body)
    else:
        query = None
    return (_binary(body) if query is None else query)[:_MOST_CHARS]


def _binary(body: bytes) -> str:
    return "__wb_post_data=" + b64encode(body).decode()


def _form(body: bytes) -> str | None:
    try:
        return unquote_plus(body.decode())
    except UnicodeDecodeError:
        return None


def _parts(content_type: str, body: bytes) -> str | None:
    """Return the fields of a form that was sent in parts; None if it has none."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode("utf-8", "replace")
    message = message_from_bytes(head + body)
    if not message.is_multipart():
        return None
    fields: list[tuple[str, str | bytes]] = []
    for part in message.get_payload():
        data: Any = part.get_payload(decode=True)  # type: ignore[union-attr]
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
        is_file = part.get_filename() is not None  # type: ignore[union-attr]
        value = data if is_file or data is None else data.decode("utf-8", "replace")
        fields.append((str(name or ""), b"" if value is None else value))
    return urlencode(fields)


def _json(body: bytes) -> str | None:
    """Return the values of a JSON document by the names that they have in it; None if it is none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    found: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name, value in _values(document, "", _DEEPEST):
        counts[name] = counts.get(name, 0) + 1
        found[name if counts[name] == 1 else f"{name}.{counts[name]}_"] = _text(value)
    return urlencode(found)


def _values(value: Any, name: str, left: int) -> Iterator[tuple[str, Any]]:
    """Yield the plain values of a document, each with the name that is nearest to it."""
    if isinstance(value, dict | list) and left:
        named = value.items() if isinstance(value, dict) else ((name, each) for each in value)
        for key, each in named:
            yield from _values(each, key, left - 1)
    elif name and not isinstance(value, dict | list):
        yield name, value


def _text(value: Any) -> str:
    """Return a value as JavaScript would write it."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
