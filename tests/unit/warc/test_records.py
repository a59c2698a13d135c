"""What is written of an answer: all that was sent, nothing that is secret, in the words of the format."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator

from crawler.warc.eraser import TooShortError, erasure
from crawler.warc.messages import Resource
from crawler.warc.records import About, PairWriter, date_precision, read_date
from tests.unit.warc.made import ABOUT, AT, entries, exchange, made, page, pages, stretches

CANARY = b"zanzibar-canary"


def peer_records(data: bytes) -> list[tuple[str, str | None, bytes, bool | None]]:
    """A file as warcio reads it: type, URL, body, and whether its digests hold."""
    return [
        (
            found.rec_type, found.rec_headers.get_header("WARC-Target-URI"), found.raw_stream.read(),
            found.digest_checker.passed,
        )
        for found in ArchiveIterator(BytesIO(data), check_digests=True)
    ]  # fmt: skip


def fast_digests(data: bytes) -> list[bool]:
    """Whether FastWARC finds each digest right."""
    blocks = [each.verify_block_digest() for each in FastIterator(BytesIO(data), parse_http=False)]
    payloads = [
        each.verify_payload_digest()
        for each in FastIterator(BytesIO(data), parse_http=True)
        if each.headers["WARC-Type"] in {"request", "response"}
    ]
    return blocks + payloads


def test_others_read_what_was_written() -> None:
    """Types, URLs, bodies and digests, by both of the libraries that people use."""
    data, _ = pages(5)
    found = peer_records(data)
    assert [kind for kind, *_ in found] == ["warcinfo", *["response", "request"] * 5]
    assert {ok for *_, ok in found[1:]} == {True}
    bodies = {url: body for kind, url, body, _ in found if kind == "response"}
    assert bodies == {f"https://shop.example/p/{n}": page(n) for n in range(5)}
    assert set(fast_digests(data)) == {True}


def test_a_request_comes_with_its_answer() -> None:
    """Two records that name each other's file, time and URL."""
    data, [(offset, pair)] = made(exchange("https://shop.example/find?q=a&q=b#top"))
    about, answer, request = entries(data)
    assert (answer.offset, answer.length) == (offset, pair.length)
    assert request.head.get("warc-concurrent-to") == answer.head.get("warc-record-id") == pair.record_id
    assert answer.head.get("warc-warcinfo-id") == about.head.get("warc-record-id")
    assert answer.head.url == request.head.url == "https://shop.example/find?q=a&q=b"
    assert request.block.startswith(b"GET /find?q=a&q=b HTTP/1.1\r\nHost: shop.example\r\n")


def test_every_header_is_kept_as_often_as_it_came() -> None:
    """In its order, with the packing of the body, and without what is of the connection."""
    headers = (
        (b"Set-Cookie", b"a=1"), (b"X-B", "é".encode()), (b"Set-Cookie", b"b=2"),
        (b"Content-Encoding", b"gzip"), (b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"99"),
    )  # fmt: skip
    data, _ = made(exchange(headers=headers, status=404, reason=b"Not Found", protocol=b"HTTP/1.0"))
    _, answer, _ = entries(data)
    head = answer.message
    assert head is not None
    assert (head.first, head.status) == (b"HTTP/1.0 404 Not Found", 404)
    assert head.headers == tuple(pair for pair in headers if pair[0] != b"Transfer-Encoding")


SECRET_HEADERS = (
    b"authorization", b"Proxy-Authorization", b"COOKIE", b"Cookie2", b"X-Api-Key", b"apikey", b"X-Auth-Token",
    b"X-Access-Token", b"X-CSRF-Token", b"X-Amz-Security-Token", b"X-Client-Secret", b"Signature", b"X-Auth",
    b"X-Authentication", b"Ocp-Apim-Subscription-Key", b"X-Session-Id", b"X-Password", b"JSESSIONID",
)  # fmt: skip
PLAIN_HEADERS = (
    b"Accept", b"Accept-Language", b"If-None-Match", b"Referer", b"Sec-WebSocket-Key", b"Origin",
    b"X-Shopping", b"X-Requested-With", b"Authority", b"Keep-Alive", b"Upgrade-Insecure-Requests",
)  # fmt: skip


def test_nothing_secret_of_ours_is_written() -> None:
    """What a client proves itself with, and a password in a URL; the site's own cookies are the site's."""
    asked = (*((name, CANARY) for name in SECRET_HEADERS), *((name, b"*/*") for name in PLAIN_HEADERS))
    writer = PairWriter()
    pair = writer.pair(
        exchange(
            f"https://{CANARY.decode()}:{CANARY.decode()}@shop.example/p#x",
            headers=((b"Set-Cookie", b"theirs=1"),),
            request_headers=asked,
        )
    )
    answer, request = entries(pair.data)
    read = answer.block + request.block + repr((answer.head.fields, request.head.fields)).encode()
    assert CANARY not in read
    assert b"theirs=1" in answer.block
    assert request.message is not None
    assert [name for name, _ in request.message.headers] == [b"Host", *PLAIN_HEADERS]


HOSTILE = "a\r\nWARC-Type: x\r\n\r\nb\0"


def test_nobody_writes_a_line_of_ours() -> None:
    """Line ends and NULs in a URL, a header, a status or a setting end no line."""
    hostile = HOSTILE.encode()
    about = About(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    writer = PairWriter()
    data = about.member(HOSTILE, writer.file_id, AT) + writer.pair(
        exchange(
            f"https://shop.example/{HOSTILE}?{HOSTILE}", method=hostile, reason=hostile, protocol=hostile,
            headers=((hostile, hostile),), request_headers=((hostile, hostile),), ip_address=HOSTILE,
            truncated=HOSTILE,
        )
    ).data  # fmt: skip
    found = entries(data)
    assert [each.head.kind for each in found] == ["warcinfo", "response", "request"]
    for each in found[1:]:
        assert each.message is not None
        assert each.message.size == each.block_length - (6 if each.head.kind == "response" else 0)
        assert len(each.message.headers) == (1 if each.head.kind == "response" else 2)
    assert len(found[0].block.splitlines()) == 6
    assert [kind for kind, *_ in peer_records(data)] == ["warcinfo", "response", "request"]


def test_what_was_made_of_an_answer_belongs_to_it() -> None:
    """A picture of a page, say: a record of its own, by a URN with the page's URL, whoever reads it."""
    writer = PairWriter()
    first, newer = (writer.pair(exchange("https://shop.example/p#x", page(number))) for number in (1, 2))
    made = [
        writer.made(Resource("urn:vitrine:screenshot:mobile:", url, AT, "image/png", b"PNG"))
        for url in ("https://shop.example/p", "https://me:secret@shop.example/other\r\nX: y")
    ]
    data = ABOUT.member("made.warc.gz", writer.file_id, AT) + first.data + newer.data
    found = entries(data + b"".join(each.data for each in made))[-2:]
    assert [each.head.kind for each in found] == ["resource"] * 2
    assert [each.head.url for each in found] == [each.url for each in made]
    assert made[0].url == "urn:vitrine:screenshot:mobile:https://shop.example/p"
    assert made[1].url == "urn:vitrine:screenshot:mobile:https://shop.example/other%0D%0AX:%20y"
    assert [each.head.get("warc-concurrent-to") for each in found] == [newer.record_id, None]
    assert found[0].block == b"PNG"
    assert [(each.kind, each.status, each.mime_type) for each in made] == [
        ("resource", None, "image/png")
    ] * 2


def test_no_two_answers_of_a_file_have_the_same_time() -> None:
    """URL and time name one of them, as replay and revisits need it."""
    data, _ = made(*(exchange() for _ in range(5)))
    dates = [each.head.get("warc-date") for each in entries(data) if each.head.kind == "response"]
    assert dates[0] == "2026-05-04T12:00:00.123456Z"
    assert len(set(dates)) == 5
    assert sorted(map(str, dates)) == dates


@pytest.mark.parametrize(
    ("revisits", "kinds"),
    [
        ("off", ["response"] * 4), ("url", ["response", "revisit", "response", "response"]),
        ("payload", ["response", "revisit", "revisit", "response"]),
    ],
)  # fmt: skip
def test_the_same_bytes_again(revisits: str, kinds: list[str]) -> None:
    """Stored once, if so wanted; what comes again says where the bytes are, in all three ways."""
    data, pairs = made(
        exchange(),
        exchange(),
        exchange("https://shop.example/other"),
        exchange(body=b"new"),
        revisits=revisits,
    )
    found = [each for each in entries(data) if each.head.kind in {"response", "revisit"}]
    assert [each.head.kind for each in found] == [pair.kind for _, pair in pairs] == kinds
    for each in found:
        if each.head.kind == "revisit":
            assert each.head.get("warc-refers-to") == pairs[0][1].record_id
            assert each.head.get("warc-refers-to-target-uri") == "https://shop.example/p"
            assert each.head.get("warc-refers-to-date") == pairs[0][1].date
            assert each.head.get("warc-payload-digest") == pairs[0][1].payload_digest
            assert each.message is not None
            assert each.message.size == each.block_length
    assert False not in {ok for *_, ok in peer_records(data)}


def test_what_is_cut_short_is_nobodys_original() -> None:
    """Nor is an answer without a body: there is nothing to save."""
    data, pairs = made(
        exchange(truncated="length"), exchange(), exchange(body=b""), exchange(body=b""), revisits="url"
    )
    assert [pair.kind for _, pair in pairs] == ["response"] * 4
    assert entries(data)[1].head.get("warc-truncated") == "length"


def test_a_file_says_who_made_it() -> None:
    """And nothing of the machine."""
    [about] = entries(ABOUT.member("a.warc.gz", "<urn:uuid:1>", AT))
    assert dict(line.split(": ", 1) for line in about.block.decode().splitlines()) == {
        "software": "Vitrine/1",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "http-header-user-agent": "Vitrine (+https://ops.example)",
        "robots": "obey",
        "operator": "ops@shop.example",
    }


def utc(*parts: int) -> datetime:
    """A time in UTC."""
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("text", "expected", "precision"),
    [
        ("2026-05-04T12:00:00Z", utc(2026, 5, 4, 12), None), ("2026-05-04", utc(2026, 5, 4), "day"),
        ("2026-05-04T12:00:00.5Z", utc(2026, 5, 4, 12, 0, 0, 500_000), None),
        ("2026-05-04T12:00:00.123456789Z", utc(2026, 5, 4, 12, 0, 0, 123_456), None),
        ("2026-05-04T14:00:00+02:00", utc(2026, 5, 4, 12), None),
        ("2026-05-04T12:00:00", utc(2026, 5, 4, 12), None),
        ("2026-05-04T12:30Z", utc(2026, 5, 4, 12, 30), "minute"), ("2026-05", utc(2026, 5, 1), "month"),
        ("2026-05-04T14:30+02:00", utc(2026, 5, 4, 12, 30), "minute"), ("2026", utc(2026, 1, 1), "year"),
        ("Mon, 04 May 2026 12:00:00 GMT", utc(2026, 5, 4, 12), None), ("2026-13", None, None),
        ("Fri, 31 Dec 9999 23:59:59 -0100", None, None), ("9999-12-31T23:59:59Z", None, None),
        ("0099-05-04T12:00:00Z", None, None), ("2026-13-40T99:00:00Z", None, None),
        ("yesterday", None, None), ("", None, None), (None, None, None),
    ],
)  # fmt: skip
def test_dates_are_read(text: str | None, expected: datetime | None, precision: str | None) -> None:
    """As ISO 8601, else as mail has them; without a zone in UTC; what has no seconds says how exact it is."""
    assert read_date(text) == expected
    assert date_precision(text) == precision


BLOCK = 65_540  # of the packed format: so much at a time


@pytest.mark.parametrize(
    "length",
    [*range(240, 300), 5000, *range(BLOCK + 8, BLOCK + 30), *range(2 * BLOCK, 2 * BLOCK + 30), 3_000_000],
)
def test_any_length(length: int) -> None:
    """To the byte, in a member that everybody reads."""
    data = b"".join(erasure(length, AT))
    assert len(data) == length
    [found] = entries(data)
    assert (found.head.kind, found.length) == ("metadata", length)
    assert [each.rec_type for each in ArchiveIterator(BytesIO(data))] == ["metadata"]


def test_a_record_in_the_midst_of_others() -> None:
    """It is gone, its place is as large as before, and everybody reads what is around it."""
    data, pairs = pages(5)
    offset, pair = pairs[2]
    erased = data[:offset] + b"".join(erasure(pair.length, AT)) + data[offset + pair.length :]
    before, after = entries(data), entries(erased)
    assert [each.offset for each in before] == [each.offset for each in after]
    assert [each.head.kind for each in after].count("metadata") == 1
    assert stretches(erased) == []
    assert len(list(ArchiveIterator(BytesIO(erased)))) == len(list(FastIterator(BytesIO(erased)))) == 11


def test_a_record_in_a_plain_file_is_erased_alike() -> None:
    """One that is too short is refused before anything is written."""
    [found] = entries(b"".join(erasure(1000, AT, is_packed=False)))
    assert (found.head.kind, found.length) == ("metadata", 1000)
    with pytest.raises(TooShortError, match="too short"):
        list(erasure(200, AT))
