"""Digests are made again, and compared in whichever way they are written; what cannot be judged is not."""

from __future__ import annotations

import base64
import hashlib
import threading

import pytest

from crawler.warc import digests
from crawler.warc.digests import Beside, Checks

DATA = b"HTTP/1.1 200 OK\r\n\r\n<h1>Jug</h1>"
BODY_AT = DATA.index(b"<h1>")


def verdict(
    block: str | None, payload: str | None = None, *, data: bytes = DATA, length: int = len(DATA)
) -> tuple[bool | None, bool | None]:
    """What is said of some bytes."""
    with Beside() as beside:
        checks = Checks(beside, length, block, payload)
        checks.update(memoryview(data), BODY_AT)
        return checks.verdict()


def spellings(name: str) -> list[str]:
    """The ways in which writers give one digest."""
    raw = hashlib.new(name, DATA).digest()
    b32, b64 = base64.b32encode(raw).decode(), base64.b64encode(raw).decode()
    return [raw.hex(), raw.hex().upper(), b32, b32.lower(), b32.rstrip("="), b64, b64.rstrip("=")]


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256", "sha384", "sha512"])
def test_each_way_to_write_a_digest_is_read(name: str) -> None:
    """Hexadecimal, base 32 and 64, with padding and without; the same of other bytes is wrong."""
    for value in spellings(name):
        assert verdict(f"{name}:{value}") == (True, None), value
        assert verdict(f"{name}:{value}", data=DATA + b"!") == (False, None), value


@pytest.mark.parametrize("name", ["SHA1", "sha-1", "Sha-256", " sha256 ", "SHA-512"])
def test_an_algorithm_goes_by_any_spelling(name: str) -> None:
    """Writers differ in case and hyphens."""
    value = hashlib.new(name.strip().lower().replace("-", ""), DATA).hexdigest()
    assert verdict(f"{name}: {value} ") == (True, None)


@pytest.mark.parametrize("said", [None, "", "sha1", "crc32:00000000", "blake3:00", ":", "\0:\0"])
def test_what_no_digest_can_be_made_of_is_not_judged(said: str | None) -> None:
    """It is neither right nor wrong."""
    assert verdict(said) == ((False, None) if said == "sha1" else (None, None))


@pytest.mark.parametrize(
    "value",
    [
        "",
        "=",
        "z" * 40,
        "ä" * 32,
        "é" * 28,
        "1" * 32,
        "\ud800" * 27,
        " " * 40,
        "A" * 31,
        "0" * 100_000,
        "\0" * 40,
    ],
)
def test_what_is_no_digest_is_wrong(value: str) -> None:
    """Whatever a file says, an answer is given, and it is no."""
    assert verdict(f"sha1:{value}") == (False, None)


def test_a_payload_begins_where_the_message_ends() -> None:
    """Pieces that are of its headers are of the block alone."""
    whole, body = (hashlib.sha1(each, usedforsecurity=False).hexdigest() for each in (DATA, DATA[BODY_AT:]))
    with Beside() as beside:
        checks = Checks(beside, len(DATA), f"sha1:{whole}", f"sha1:{body}")
        checks.update(memoryview(DATA[:5]), None)
        checks.update(memoryview(DATA[5 : BODY_AT + 2]), BODY_AT - 5)
        checks.update(memoryview(DATA[BODY_AT + 2 :]), 0)
        assert checks.verdict() == (True, True)


def test_a_payload_that_begins_nowhere_is_not_judged() -> None:
    """The block still is."""
    with Beside() as beside:
        checks = Checks(beside, 4, "sha1:wrong", "sha1:wrong")
        checks.without_payload()
        checks.update(memoryview(b"text"), None)
        assert checks.verdict() == (False, None)


def test_a_large_record_is_digested_beside_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """More pieces than may wait, each of them counted before the verdict."""
    monkeypatch.setattr(digests, "_LARGE_BYTES", 10)
    pieces = [bytes([number]) * 7 for number in range(20)]
    wanted = hashlib.sha256(b"".join(pieces)).hexdigest()
    threads = []
    update = Checks._update

    def seen(self: Checks, data: memoryview, body_at: int | None) -> None:
        threads.append(threading.current_thread())
        update(self, data, body_at)

    monkeypatch.setattr(Checks, "_update", seen)
    with Beside() as beside:
        checks = Checks(beside, 140, f"sha256:{wanted}", None)
        for piece in pieces:
            checks.update(memoryview(piece), None)
        assert checks.verdict() == (True, None)
    assert len(threads) == 20
    assert {each.name.partition("_")[0] for each in threads} == {"digests"}


def test_what_goes_wrong_beside_is_heard() -> None:
    """And the thread ends with the block, whatever waits for it."""

    def fail(_data: memoryview, _body_at: int | None) -> None:
        raise MemoryError

    with Beside() as beside:
        beside.submit(fail, memoryview(b""), None)
        with pytest.raises(MemoryError):
            beside.finish()
    assert not [each for each in threading.enumerate() if each.name.startswith("digests")]
