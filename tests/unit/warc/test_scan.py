"""Damage costs the damaged record, and is told; what is whole is read, however it was written."""

from __future__ import annotations

import base64
import errno
import gzip
import hashlib
import tracemalloc
from hashlib import sha256
from io import BytesIO
from operator import itemgetter
from random import Random

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.warc import members
from crawler.warc.digests import Checks
from crawler.warc.members import BadRecordError, FileBytes, Members, candidates
from crawler.warc.messages import decoded
from crawler.warc.reader import Bad, Entry, body_of, open_record
from crawler.warc.records import member, record
from crawler.warc.scan import walk
from tests.unit.warc.made import entries, exchange, made, page, pages, stretches

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
    """The same records at the same places as warcio finds them, digests that hold, and damage as in ours."""
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
        assert (head, b"".join(pieces)) == (each.message, body)
    second = ours[1].offset
    damaged = data[:second] + b"XXXX" + data[second + 4 :]
    assert [each.head.url for each in entries(damaged)] == [url for url, *_ in theirs[:1] + theirs[2:]]
    assert len(stretches(damaged)) == 1


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


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        *((said, "no_length") for said in ("9223372036854775808", "-5", "", "\N{ARABIC-INDIC DIGIT THREE}")),
        ("999999999999999999", "block_cut_short"),
    ],
)  # fmt: skip
def test_a_length_that_cannot_be(said: str, reason: str) -> None:
    """Neither believed nor reserved memory for; the record behind it is read."""
    good, _ = pages(1)
    bad = member(f"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: {said}\r\n\r\nabcdef\r\n\r\n".encode())
    assert stretches(bad + good) == [Bad(0, len(bad), reason)]
    assert len(entries(bad + good)) == 3


def test_what_follows_a_block_in_its_member() -> None:
    """Is no damage, unless it looks like another record: then the length may be wrong, and is named."""
    good, _ = pages(1)
    head = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc"
    surplus = member(head + b"def" + bytes(200_000))
    assert next(each.block for each in entries(surplus + good)) == b"abc"
    assert len(entries(surplus + good)) == 4
    assert stretches(surplus + good) == []
    for between in (b"", bytes(119_990)):
        doubtful = member(head + b"def" + between + b"\r\nwarc/1.0\r\nWARC-Type: resource\r\n\r\n")
        assert stretches(doubtful + good) == [Bad(0, len(doubtful), "longer_than_it_says")]


def test_records_of_one_member_that_are_read_in_pieces() -> None:
    """Wherever the pieces end that a member is unpacked to."""
    for size in range(120 * 1024 - 180, 120 * 1024 - 60):
        one, other = (record("resource", "<urn:1>", (), body) for body in (bytes(size), b"abc"))
        found = list(walk(BytesIO(gzip.compress(one + other, 1))))
        assert [isinstance(each, Entry) and each.block_length for each in found] == [size, 3]


@pytest.mark.parametrize(
    "data",
    [b"", b"\x1f", b"x", b"\x1f\x8b\x08", b"PK\x03\x04" + page(1), gzip.compress(b""), b"\0" * 999_999],
    ids=["empty", "a byte", "another", "a beginning", "zip", "nothing packed", "zeros"],
)
def test_what_is_no_archive(data: bytes) -> None:
    """Has no records, and does not end anything."""
    assert entries(data) == []
    assert sum(bad.length for bad in stretches(data)) in {0, len(data)}


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
    """Each is that of its own record."""
    bodies = [page(number, size) for number in range(12)]
    data, _ = made(*(exchange(body=body) for body in bodies))
    wrong = sha256(bodies[7]).hexdigest().encode()
    plain = gzip.decompress(data)
    assert plain.count(wrong) == 1
    found = entries(plain.replace(wrong, wrong[::-1]))
    assert [each.payload_ok for each in found if each.head.kind == "response"] == [n != 7 for n in range(12)]
    assert {each.block_ok for each in found} == {True}


class Breaking(BytesIO):
    """A disk that fails from some place on."""

    def read(self, size: int | None = -1) -> bytes:
        """Raise where it is broken."""
        if self.tell() >= 600_000:
            raise OSError(errno.EIO, "Input/output error")
        return super().read(size)


def test_a_disk_that_breaks_is_no_damage() -> None:
    """What was read before is given; then the error."""
    data, _ = made(*(exchange(body=Random(n).randbytes(40_000)) for n in range(40)))
    found: list[Entry | Bad] = []
    with pytest.raises(OSError, match="Input/output"):
        found.extend(walk(Breaking(data)))
    assert found == entries(data)[: len(found)]
    assert len(found) > 20


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


def test_a_record_in_several_members() -> None:
    """As archives of 2015 have it: the head in one, the body in another."""
    good, _ = pages(1)
    whole = record("response", "<urn:1>", (("WARC-Target-URI", "https://a.example/"),), b"x" * 5000)
    data = gzip.compress(whole[:150]) + gzip.compress(whole[150:3000]) + gzip.compress(whole[3000:])
    found = entries(data + good)
    assert (found[0].block_length, found[0].length, len(found)) == (5000, len(data), 4)
    assert stretches(data + good) == []
    assert b"".join(open_record(BytesIO(data + good), 0).block()) == b"x" * 5000


def test_a_large_body_is_read_in_pieces() -> None:
    """However large it is: 80 MB of zeros in a few of memory, its digests made on the way."""
    size = 80 * MB
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    digest = hashlib.sha256()
    for _ in range(size // MB):
        digest.update(bytes(MB))
    begin = (
        f"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\n"
        f"WARC-Payload-Digest: sha256:{digest.hexdigest()}\r\nContent-Length: {size + len(head)}\r\n\r\n"
    ).encode() + head
    file = BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed:
        packed.write(begin)
        for _ in range(size // MB):
            packed.write(bytes(MB))
        packed.write(b"\r\n\r\n")
    tracemalloc.start()
    try:
        [found] = walk(file)
        assert not isinstance(found, Bad)
        assert (found.payload_ok, found.is_whole, found.block_length) == (True, False, size + len(head))
        message, pieces = body_of(open_record(file, 0))
        assert message is not None
        assert sum(map(len, decoded(message, pieces))) == size
        assert tracemalloc.get_traced_memory()[1] < 24 * MB
    finally:
        tracemalloc.stop()


def test_a_record_that_is_not_there() -> None:
    """Is told as damage, by whoever asks for one."""
    data, pairs = pages(2)
    for wrong in (1, len(data), pairs[0][0] + 1):
        with pytest.raises(BadRecordError):
            open_record(BytesIO(data), wrong)
    cut = BytesIO(data[: pairs[1][0] + 500])
    with pytest.raises(BadRecordError, match="cut_short"):
        b"".join(open_record(cut, pairs[1][0]).block())


RECORD = b"WARC/1.1\r\nWARC-Type: response\r\n\r\n"
NOISE = Random(7).randbytes(300_000)


def all_of(source: Members) -> bytes:
    """Everything up to the end of the record."""
    data = b""
    while piece := source.more_of_record():
        data += piece
    return data


@pytest.mark.parametrize("size", [0, 1, 32_768, 300_000])
@pytest.mark.parametrize(
    "behind", [b"", gzip.compress(RECORD, mtime=0), b"junk"], ids=["end", "another", "junk"]
)
def test_a_member_ends_where_it_ends(size: int, behind: bytes) -> None:
    """However large it is, and whatever follows; what was read ahead is given back."""
    data = RECORD + NOISE[:size]
    packed = gzip.compress(data)
    source = Members(FileBytes(BytesIO(b"before" + packed + behind)), 6)
    assert all_of(source) == data
    assert source.end == 6 + len(packed)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (itemgetter(slice(-9)), "cut_short"), (itemgetter(slice(5)), "cut_short"),
        (lambda data: data[:-8] + b"\0\0\0\0" + data[-4:], "checksum"),
        (lambda data: data[:10] + b"\xff" * 20 + data[30:], "gzip"),
        (lambda data: b"PK" + data[2:], "gzip"),
    ],
)  # fmt: skip
def test_damage_has_a_name(spoil: object, reason: str) -> None:
    """It is not read past."""
    data = spoil(gzip.compress(RECORD + NOISE[:5_000]))  # type: ignore[operator]
    with pytest.raises(BadRecordError) as bad:
        all_of(Members(FileBytes(BytesIO(data)), 0))
    assert bad.value.reason == reason


@pytest.mark.parametrize("step", [members.PEEK_BYTES, members.READ_BYTES])
def test_a_beginning_across_two_steps_is_found(step: int) -> None:
    """Wherever the file is cut while it is read."""
    for shift in range(-12, 3):
        data = b"x" * (members.READ_BYTES + shift - 1) + b"\n" + RECORD
        found = list(candidates(FileBytes(BytesIO(data), step), 0, is_packed=False))
        assert [at for at, _ in found] == [members.READ_BYTES + shift]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (RECORD, [0]), (b"x" + RECORD, []), (b"x\r\n" + RECORD, [3]), (b"\nWARC/9.9\r\n", []),
        (b"\nWARC/1.0\nA: b", [1]), (b"a WARC/1.1 in a text", []),
    ],
)  # fmt: skip
def test_in_a_file_that_is_not_packed_a_line_begins_one(text: bytes, places: list[int]) -> None:
    """Not a word in a text."""
    assert [at for at, _ in candidates(FileBytes(BytesIO(text)), 0, is_packed=False)] == places


DATA = b"HTTP/1.1 200 OK\r\n\r\n<h1>Jug</h1>"


def verdict(block: str | None, *, data: bytes = DATA) -> bool | None:
    """Whether some bytes have this digest; None where that cannot be judged."""
    checks = Checks(block, None)
    checks.update(memoryview(data), None)
    return checks.verdict()[0]


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256", "sha384", "sha512", "SHA1", "sha-1", " Sha-256 "])
def test_each_way_to_write_a_digest_is_read(name: str) -> None:
    """Hexadecimal, base 32 and 64, with padding and without; the same of other bytes is wrong."""
    raw = hashlib.new(name.strip().lower().replace("-", ""), DATA).digest()
    b32, b64 = base64.b32encode(raw).decode(), base64.b64encode(raw).decode()
    for value in (raw.hex(), raw.hex().upper(), b32, b32.lower(), b32.rstrip("="), b64, b64.rstrip("=")):
        assert verdict(f"{name}:{value}") is True, value
        assert verdict(f"{name}:{value}", data=DATA + b"!") is False, value


@pytest.mark.parametrize("said", [None, "", "crc32:00000000", ":", "\0:\0"])
def test_what_no_digest_can_be_made_of_is_not_judged(said: str | None) -> None:
    """It is neither right nor wrong."""
    assert verdict(said) is None


@pytest.mark.parametrize(
    "value", ["", "=", "z" * 40, "ä" * 32, "1" * 32, "\ud800" * 27, "A" * 31, "0" * 100_000, "\0" * 40]
)
def test_what_is_no_digest_is_wrong(value: str) -> None:
    """Whatever a file says, an answer is given, and it is no."""
    assert verdict(f"sha1:{value}") is False
