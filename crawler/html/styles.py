"""What a stylesheet names: other stylesheets, pictures, fonts. Pure."""

from __future__ import annotations

import re
from urllib.parse import urldefrag, urljoin

from crawler.urls import MAX_URL_CHARS, SCHEMES

MAX_STYLE_CHARS = 1_000_000
MAX_REFERENCES = 500
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# Each alternative ends at the first character that it cannot take: nasty sheets cost what long ones do.
_REFERENCE = re.compile(
    r"""url\(\s*(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})'|([^\s"'()]{1,8192}))\s*\)"""
    r"""|@import\s+(?:"([^"\n]{1,8192})"|'([^'\n]{1,8192})')""",
    re.IGNORECASE,
)


def style_references(text: str, base: str) -> tuple[str, ...]:
    """The addresses that a stylesheet names, in its order, each once, without fragment."""
    found: dict[str, None] = {}
    for match in _REFERENCE.finditer(_COMMENT.sub(" ", text[:MAX_STYLE_CHARS])):
        reference = next(part for part in match.groups() if part)
        try:
            url = urldefrag(urljoin(base, reference.strip())).url
        except ValueError:
            continue
        if url.partition(":")[0].lower() in SCHEMES and len(url) <= MAX_URL_CHARS:
            found[url] = None
        if len(found) == MAX_REFERENCES:
            break
    return tuple(found)
