"""What feeders of a fleet may say: a URL, or an object as scrapy-redis takes it, with our arguments. Pure."""

from __future__ import annotations

import json
from typing import Any

from crawler.errors import UsageError
from crawler.sessions.rows import CHOICES
from crawler.urls import redacted, require_http_url, root_of

ARGUMENTS = ("url", "pdp", *CHOICES)
MAX_ENTRY_BYTES = 65_536
SHOWN_CHARS = 2000


def arguments_of(data: bytes, encoding: str = "utf-8") -> dict[str, str]:
    """The spider's arguments that an entry gives, `url` among them; say what is wrong with it otherwise."""
    if len(data) > MAX_ENTRY_BYTES:
        raise UsageError(f"an entry of {len(data)} bytes is too long (at most {MAX_ENTRY_BYTES})")
    try:
        text = data.decode(encoding).strip()
    except UnicodeDecodeError:
        raise UsageError(f"an entry that is no {encoding}") from None
    given = _object(text) if text.startswith(("{", "[")) else {"url": text}
    if not given.get("url"):
        if not given.get("pdp"):
            raise UsageError("an entry that names no url")
        given["url"] = root_of(require_http_url(given["pdp"]))
    given["url"] = require_http_url(given["url"])
    return given


def shown_entry(data: bytes) -> str:
    """An entry as it may be logged and stored: text, not too long, without passwords."""
    text = redacted(data[: 4 * SHOWN_CHARS].decode("utf-8", "backslashreplace"))
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"


def _object(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"an entry that is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError("an entry that is a JSON list, and no object")
    if str(found.pop("method", None) or "GET").upper() != "GET":
        raise UsageError("an entry with a method; pages are got, and nothing is sent to sites")
    meta = found.pop("meta", None) or {}
    if not isinstance(meta, dict):
        raise UsageError("an entry whose meta is no object")
    # Feeders may keep marks of their own under names with an underscore, as Scrapyd does.
    named = {name: value for name, value in {**found, **meta}.items() if not name.startswith("_")}
    return {name: _text(name, value) for name, value in named.items() if value is not None}


def _text(name: str, value: Any) -> str:
    if name not in ARGUMENTS:
        raise UsageError(f"an entry with {name}; it takes " + ", ".join(ARGUMENTS))
    if not isinstance(value, str | int):
        raise UsageError(f"an entry whose {name} is no text")
    return str(value)
