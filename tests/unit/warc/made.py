"""Files of records, made for tests, and what is done to them."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING, Any

from crawler.warc.messages import Exchange
from crawler.warc.reader import Bad, Entry
from crawler.warc.records import About, Pair, PairWriter, Shelved
from crawler.warc.scan import walk

if TYPE_CHECKING:
    from uuid import UUID

    from crawler.evidence.warc_shelf import WarcShelf

AT = datetime(2026, 5, 4, 12, 0, 0, 123456, UTC)
ABOUT = About("Vitrine/1", "Vitrine (+https://ops.example)", "obey", "ops@shop.example")
HTML = ((b"Content-Type", b"text/html; charset=utf-8"),)


def exchange(url: str = "https://shop.example/p", body: bytes = b"<html>", **more: Any) -> Exchange:
    """An answer and its request."""
    return Exchange(
        url=url, body=body,
        **{
            "captured_at": AT, "method": b"GET", "request_headers": ((b"User-Agent", b"Vitrine"),),
            "protocol": b"HTTP/1.1", "status": 200, "reason": b"OK", "headers": HTML, **more,
        },
    )  # fmt: skip


def appended(shelf: WarcShelf, exchange: Exchange, session: UUID | None = None) -> Shelved:
    """Where an answer lies that was written by itself."""
    [place] = shelf.append([(exchange, session)]).result()
    if isinstance(place, Exception):
        raise place
    return place


def page(number: int, size: int = 3000) -> bytes:
    """HTML that packs like HTML."""
    dice = Random(number)
    words = " ".join(dice.choice(("price", "<p>", "shop", "a", "of", "</p>", "€")) for _ in range(size // 4))
    return f"<html><title>{number}</title>{words}".encode()


def made(*exchanges: Exchange, revisits: str = "off") -> tuple[bytes, list[tuple[int, Pair]]]:
    """A file, and where in it each pair begins."""
    writer = PairWriter(revisits)
    data = ABOUT.member("made.warc.gz", writer.file_id, AT)
    pairs = []
    for each in exchanges:
        pair = writer.pair(each)
        pairs.append((len(data), pair))
        data += pair.data
    return data, pairs


def pages(count: int, size: int = 3000) -> tuple[bytes, list[tuple[int, Pair]]]:
    """A file of so many pages."""
    return made(*(exchange(f"https://shop.example/p/{n}", page(n, size)) for n in range(count)))


def entries(data: bytes, **how: Any) -> list[Entry]:
    """The whole records of a file."""
    return [each for each in walk(BytesIO(data), **how) if isinstance(each, Entry)]


def stretches(data: bytes) -> list[Bad]:
    """The bad stretches of a file."""
    return [each for each in walk(BytesIO(data)) if isinstance(each, Bad)]
