"""Records that are valid, written as other programs write them."""

from __future__ import annotations

import gzip
from base64 import urlsafe_b64encode
from hashlib import sha1, sha256

BODY = b"<html><title>Jug</title><p>A jug of clay.</p></html>"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
HTTP_WITH_NUL = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; a=\0\r\nX-A: a\0b\r\n\r\n"
BLOCK = HTTP + BODY
URL = "https://foreign.example"


def record(path: str, *fields: bytes, version: bytes = b"WARC/1.0", block: bytes = BLOCK) -> bytes:
    """A response with these fields besides those that every record has."""
    lines = (
        version,
        b"WARC-Type: response",
        b"WARC-Record-ID: <urn:uuid:%s>" % path.encode(),
        b"WARC-Date: 2026-05-04T12:00:00Z",
        b"WARC-Target-URI: %s/%s" % (URL.encode(), path.encode()),
        b"Content-Type: application/http; msgtype=response",
        *fields,
        b"Content-Length: %d" % len(block),
    )
    return b"\r\n".join((*lines, b"", block)) + b"\r\n\r\n"


def base64url(data: bytes) -> bytes:
    """A SHA-1 digest in base 64 that a URL can hold."""
    return urlsafe_b64encode(sha1(data, usedforsecurity=False).digest())


def block_with(sign: bytes) -> bytes:
    """A block whose digest has a character that only base 64 for URLs has."""
    return next(block for n in range(1000) if sign in base64url(block := BLOCK + b"<!-- %d -->" % n))


def records() -> dict[str, bytes]:
    """A record of each form, by the path of its URL."""
    whole = sha256(BODY + BODY).hexdigest().encode()
    minus, underline = block_with(b"-"), block_with(b"_")
    return {
        "plain": record("plain"),
        "folded": record("folded", b"X-Note: one\r\n two: 2\r\n\tWARC-Type: forged"),
        "folded-digest": record(
            "folded-digest", b"WARC-Payload-Digest:\r\n sha256:%s" % sha256(BODY).hexdigest().encode()
        ),
        "small-letters": record("small-letters", version=b"warc/1.0"),
        "minus": record("minus", b"WARC-Block-Digest: sha1:%s" % base64url(minus), block=minus),
        "underline": record(
            "underline", b"WARC-Block-Digest: sha1:%s" % base64url(underline), block=underline
        ),
        "segment": record("segment", b"WARC-Segment-Number: 1", b"WARC-Payload-Digest: sha256:%s" % whole),
        "nul": record("nul", b"X-Note: a\0b", block=HTTP_WITH_NUL + BODY),
        "last": record("last"),
    }  # fmt: skip


def packed(records: dict[str, bytes]) -> bytes:
    """A file with a member for each record; the last one's holds more than its record."""
    *others, last = records.values()
    return b"".join(map(gzip.compress, (*others, last + b"\0" * 40 + b"more")))
