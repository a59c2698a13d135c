"""Damage costs the damaged record, and is told; what is whole is read, however it was written."""

from __future__ import annotations

import errno
import gzip
import hashlib
import zipfile
from contextlib import closing
from hashlib import sha256
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.evidence.warc_walk import walk
from crawler.warc.reader import Bad, Entry, body_of, open_record
from crawler.warc.records import member, record
from tests.unit.warc.made import ABOUT, AT, entries, exchange, made, page, pages, stretches

if TYPE_CHECKING:
    from collections.abc import Callable

# warcio leaves its temporary files to whoever comes along.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*SpooledTemporaryFile:pytest.PytestUnraisableExceptionWarning", "ignore:Unclosed:ResourceWarning"
)
MB = 1024 * 1024
COUNT = 40
VICTIM = 17


def written_by_warcio(*, gzip: bool = True, count: int = 6) -> bytes:
    """A file of warcio's, with its SHA-1 digests."""
    file = BytesIO()
    writer = WARCWriter(file, gzip=gzip, warc_version="1.0")
    for number in range(count):
        head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.0")
        url = f"https://shop.example/{number}"
        writer.write_record(
            writer.create_warc_record(url, "response", payload=BytesIO(page(number)), http_headers=head)
        )
    return file.getvalue()


@pytest.mark.parametrize("gzip", [True, False], ids=["packed", "plain"])
def test_what_others_wrote(gzip: bool) -> None:  # ruff: ignore[boolean-type-hint-positional-argument] - a case
    """The same records at the same places as warcio finds them, with digests that hold."""
    data = written_by_warcio(gzip=gzip)
    iterator = ArchiveIterator(BytesIO(data))
    theirs = [
        (each.rec_headers.get_header("WARC-Target-URI"), each.raw_stream.read(), iterator.get_record_offset())
        for each in iterator
    ]
    ours = entries(data)
    assert [
        (each.head.url, each.block[each.message.size :], each.offset) for each in ours if each.message
    ] == theirs
    assert {(each.block_ok, each.payload_ok) for each in ours} == {(True, True)}
    assert stretches(data) == []
    for each, (_, body, offset) in zip(ours, theirs, strict=True):
        head, pieces = body_of(open_record(BytesIO(data), offset))
        assert head is not None
        assert (head, b"".join(pieces)) == (each.message, body)


# ── damage ──


def damages(data: bytes, begin: int, end: int) -> dict[str, bytes]:
    """A file in which one member is no longer what it was."""
    middle = (begin + end) // 2
    noise = Random(1).randbytes(64)
    return {
        "noise": data[:middle] + noise + data[middle + 64 :],
        "no head": data[:begin] + bytes(16) + data[begin + 16 :],
        "checksum": data[: end - 8] + b"\1\2\3\4" + data[end - 4 :],
        "cut out": data[:middle] + data[middle + 100 :],
        "put in": data[:middle] + noise + data[middle:],
        "other record": data[:begin] + member(b"no record at all") + data[end:],
    }


KINDS = list(damages(bytes(1000), 100, 500))


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_damaged_record_is_lost(kind: str) -> None:
    """Every other one is read, and the stretch is named to the byte."""
    data, pairs = pages(COUNT)
    offset, pair = pairs[VICTIM]
    damaged = damages(data, offset, offset + pair.length)[kind]
    lost = {each.head.get("warc-record-id") for each in entries(data)} - {
        each.head.get("warc-record-id") for each in entries(damaged)
    }
    assert lost == {pair.record_id}
    [bad] = stretches(damaged)
    assert (bad.offset, bad.length) == (offset, pair.length + len(damaged) - len(data))


@pytest.mark.parametrize("size", [1, 10, 100, 370])
def test_a_file_that_was_cut(size: int) -> None:
    """Is told to be cut, which others do not."""
    data, pairs = pages(3)
    offset, pair = pairs[-1]
    assert stretches(data[:-size]) == [
        Bad(offset + pair.length, len(pair.data) - pair.length - size, "cut_short")
    ]


def test_every_cut_leaves_what_was_whole() -> None:
    """Wherever a process was killed: whole records, and at most one bad stretch at the end."""
    data, _ = pages(3, size=300)
    ends = [each.offset + each.length for each in entries(data)]
    for cut in range(1, len(data), 7):
        found = list(walk(BytesIO(data[:cut])))
        whole = [end for end in ends if end <= cut]
        assert [each.offset + each.length for each in found if not isinstance(each, Bad)] == whole
        bad = [each for each in found if isinstance(each, Bad)]
        assert len(bad) == (0 if cut in {0, *whole} else 1)


def test_a_stored_archive_is_not_taken_for_the_file() -> None:
    """A page may be such a file, made to be found in a damaged one: its records are not this file's."""
    inner, _ = made(exchange("https://bank.example/forged", b"you owe me"))
    data, pairs = made(
        exchange(body=page(1)), exchange("https://shop.example/evil", Random(2).randbytes(9000) + inner),
        exchange("https://shop.example/after", body=page(2)),
    )  # fmt: skip
    offset, pair = pairs[1]
    unpacked = gzip.decompress(data[offset : offset + pair.length])
    stored = gzip.compress(unpacked, 0)  # as a writer leaves what cannot be packed
    assert inner in stored
    whole = data[:offset] + stored + data[offset + pair.length :]
    damaged = whole[: offset + 3] + bytes(50) + whole[offset + 53 :]
    urls = [each.head.url for each in entries(damaged) if each.head.kind == "response"]
    assert urls == ["https://shop.example/p", "https://shop.example/after"]
    assert [(bad.offset, bad.length) for bad in stretches(damaged)] == [(offset, len(stored))]


def test_two_files_that_were_joined() -> None:
    """Are read on, though the second has another mark."""
    first, pairs = pages(2)
    second, _ = pages(2)
    cut = first[: pairs[-1][0] + pairs[-1][1].length + 20]
    assert len(entries(cut + second)) == len(entries(first)) - 1 + len(entries(second))
    assert len(stretches(cut + second)) == 1


LENGTHS = [
    ("9223372036854775808", "no_length"),
    ("-5", "no_length"),
    ("", "no_length"),
    ("\N{ARABIC-INDIC DIGIT THREE}", "no_length"),
    ("999999999999999999", "block_cut_short"),
    ("3", "longer_than_it_says"),
]


@pytest.mark.parametrize(("said", "reason"), LENGTHS)
def test_a_length_that_cannot_be(said: str, reason: str) -> None:
    """Neither believed nor reserved memory for; the record behind it is read."""
    good, _ = pages(1)
    bad = member(f"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: {said}\r\n\r\nabcdef\r\n\r\n".encode())
    assert stretches(bad + good) == [Bad(0, len(bad), reason)]
    assert len(entries(bad + good)) == 3


def a_zip() -> bytes:
    """No archive of this kind."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.warc", page(1))
    return file.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"\x1f", lambda: b"x", lambda: b"\x1f\x8b\x08", a_zip, lambda: gzip.compress(b""),
        lambda: b"\0" * 999_999,
    ],
    ids=["a byte", "another", "a beginning", "zip", "nothing packed", "zeros"],
)  # fmt: skip
def test_what_is_no_archive(make: Callable[[], bytes]) -> None:
    """Has no records, and does not end anything."""
    data = make()
    assert entries(data) == []
    assert sum(bad.length for bad in stretches(data)) in {0, len(data)}


def test_an_empty_file() -> None:
    """Has nothing in it, not even damage."""
    assert list(walk(BytesIO())) == []


def test_digests_that_do_not_hold() -> None:
    """Are counted; the record is there all the same."""
    fields = (
        ("WARC-Target-URI", "https://shop.example/"),
        ("Content-Type", "application/http; msgtype=response"),
        ("WARC-Block-Digest", "sha1:AAAA"),
        ("WARC-Payload-Digest", "sha256:" + hashlib.sha256(b"other").hexdigest()),
    )
    [found] = entries(member(record("response", "<urn:1>", fields, b"HTTP/1.1 200 OK\r\n\r\nbody")))
    assert (found.block_ok, found.payload_ok) == (False, False)
    assert (found.digests_checked, found.digests_wrong) == (2, 2)
    unknown = (("WARC-Block-Digest", "crc9:AAAA"), ("WARC-Payload-Digest", "nothing"))
    [found] = entries(member(record("resource", "<urn:1>", unknown, b"body")))
    assert found.digests_checked == 0


@pytest.mark.parametrize("size", [100, 50_000, 1_200_000], ids=["small", "one piece", "several"])
def test_digests_of_any_size(size: int) -> None:
    """In whichever thread they are made: each is that of its own record, also where it is asked for late."""
    bodies = [page(number, size) for number in range(12)]
    data, _ = made(*(exchange(body=body) for body in bodies))
    wrong = sha256(bodies[7]).hexdigest().encode()
    plain = gzip.decompress(data)
    assert plain.count(wrong) == 1
    found = entries(plain.replace(wrong, wrong[::-1]))
    assert [each.payload_ok for each in found if each.head.kind == "response"] == [n != 7 for n in range(12)]
    assert {each.block_ok for each in found} == {True}
    with closing(walk(BytesIO(data))) as records:
        first = [next(records) for _ in range(3)]
    assert [isinstance(each, Entry) and each.digests_checked for each in first] == [1, 2, 2]


def test_digests_that_nobody_wants() -> None:
    """Are not made: for an index, and where a killed crawl's file ends."""
    data, _ = made(exchange(body=page(1, 50_000)))
    assert [each.digests_checked for each in entries(data, digests=False)] == [0, 0, 0]
    assert [each.message for each in entries(data, keep=0)] == [each.message for each in entries(data)]


class Breaking(BytesIO):
    """A disk that fails from some place on."""

    def read(self, size: int | None = -1) -> bytes:
        """Raise where it is broken."""
        if self.tell() >= 600_000:
            raise OSError(errno.EIO, "Input/output error")
        return super().read(size)


def test_a_disk_that_breaks() -> None:
    """What was read before is given, though its digests were being made; then the error."""
    data, _ = made(*(exchange(body=Random(n).randbytes(40_000)) for n in range(40)))
    found: list[Entry | Bad] = []

    def read() -> None:
        found.extend(walk(Breaking(data)))

    with pytest.raises(OSError, match="Input/output"):
        read()
    whole = entries(data)
    assert found == whole[: len(found)]
    assert len(found) >= len([each for each in whole if each.offset + each.length <= 600_000])


# ── how others wrote ──


@pytest.mark.parametrize("of", ["fields", "message"])
def test_a_head_in_very_many_members(of: str) -> None:
    """A byte each: the work grows with the bytes, not with their square."""
    head = "X" * 200_000
    if of == "fields":
        whole = record("resource", "<urn:1>", (("X", head),), b"abc")
    else:
        said = (("Content-Type", "application/http"),)
        whole = record("response", "<urn:1>", said, f"HTTP/1.1 200 OK\r\nX: {head}\r\n\r\nabc".encode())
    begin, rest = whole[:150], whole[150:]
    data = gzip.compress(begin) + b"".join(
        gzip.compress(rest[at : at + 10], 0) for at in range(0, len(rest), 10)
    )
    [found] = entries(data)
    assert (found.length, found.head.kind) == (len(data), "resource" if of == "fields" else "response")
    assert of == "fields" or (found.message is not None and found.message.get(b"x") == head)


def test_a_file_in_one_member() -> None:
    """Is read, but none of its records can be found by its place."""
    plain = gzip.decompress(pages(3)[0])
    data = gzip.compress(plain)
    assert [each.is_seekable for each in entries(data)] == [False] * 7
    assert [each.head.kind for each in entries(data)] == [each.head.kind for each in entries(plain)]
    assert {each.is_seekable for each in entries(plain)} == {True}


def test_line_feeds_alone() -> None:
    """And words that are no UTF-8, and an URL between brackets."""
    fields = b"WARC-Type: Response\nWARC-Target-URI: <https://a.example/>\nX: \xe9\nContent-Length: 3\n"
    text = b"WARC/0.18\n" + fields + b"\nabc\n\n"
    for data in (text * 2, gzip.compress(text) * 2):
        found = entries(data)
        assert [(each.head.kind, each.head.url, each.head.get("x")) for each in found] == [
            ("response", "https://a.example/", "é")
        ] * 2


def test_damage_in_a_plain_file() -> None:
    """Costs what it hit as well."""
    plain = written_by_warcio(gzip=False)
    second = plain.index(b"WARC/1.0", 10)
    damaged = plain[:second] + b"XXXX" + plain[second + 4 :]
    assert [each.head.url for each in entries(damaged)] == [
        f"https://shop.example/{number}" for number in (0, 2, 3, 4, 5)
    ]
    assert len(stretches(damaged)) == 1


def test_a_whole_block_may_be_kept() -> None:
    """For who wants bodies in one pass; else its beginning."""
    data, _ = made(exchange(body=page(1, 400_000)))
    short, whole = entries(data, keep=1000)[1], entries(data, keep=MB)[1]
    assert (len(short.block), short.is_whole, short.payload_ok) == (1000, False, True)
    assert whole.is_whole
    assert whole.message is not None
    assert whole.block[whole.message.size :] == page(1, 400_000)


def test_the_file_it_begins_with() -> None:
    """Is read as any other record."""
    [about] = entries(ABOUT.member("a.warc.gz", "<urn:1>", AT))
    assert (about.head.kind, about.head.get("warc-filename")) == ("warcinfo", "a.warc.gz")
