"""`vitrine warcs`: what is in archives, whether it is whole, and what is taken out of them."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.db.engine import Database
from crawler.db.models import AuditEntry, Record, WarcFile
from crawler.evidence.warc_files import WarcRows
from crawler.evidence.warc_shelf import WarcShelf
from crawler.evidence.warc_tools import discover, make_collection
from crawler.warc.reader import open_record
from tests.unit.warc.made import ABOUT, entries, exchange, made, page, stretches

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

URL = "https://shop.example/p"
OTHER = "https://shop.example/other"


def asked(home: Home, *arguments: str, code: int = 0) -> dict[str, Any]:
    """What a command says in JSON."""
    done = home.vitrine("warcs", *arguments, "--json")
    assert done.returncode == code, (done.stdout, done.stderr)
    return dict(json.loads(done.stdout))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two pages, and one of them again."""
    data, _ = made(exchange(URL, page(1)), exchange(OTHER, page(2)), exchange(URL, page(1)), revisits="url")
    path = tmp_path / "made.warc.gz"
    path.write_bytes(data)
    return path


def test_a_whole_file(home: Home, file: Path) -> None:
    """Every record counted, every digest made again."""
    [found] = asked(home, "verify", str(file))["files"]
    assert (found["file"], found["state"], found["records"]) == (str(file), "sealed", 7)
    assert (found["records_bad"], found["bad"], found["digests_wrong"]) == (0, [], 0)
    assert found["digests_checked"] == 12


def test_a_damaged_file(home: Home, file: Path) -> None:
    """Exit 6, and each bad stretch by its place; for people too."""
    data = file.read_bytes()
    file.write_bytes(data[:500] + bytes(60) + data[560:])
    [found] = asked(home, "verify", str(file), code=6)["files"]
    [bad] = found["bad"]
    assert bad.keys() == {"offset", "length", "reason"}
    assert bad["offset"] < 500 < bad["offset"] + bad["length"]
    assert (found["state"], found["records_bad"], found["records"]) == ("damaged", 1, 6)
    done = home.vitrine("warcs", "verify", str(file))
    assert f"bytes at {bad['offset']}: {bad['reason']}" in done.stdout


@pytest.mark.parametrize(
    "data", [b"", b"\x1f", b"PK\x03\x04 no archive at all"], ids=["empty", "a byte", "zip"]
)
def test_what_is_no_archive(home: Home, tmp_path: Path, data: bytes) -> None:
    """Is damaged; what is not there is missing."""
    path = tmp_path / "x.warc.gz"
    path.write_bytes(data)
    files = asked(home, "verify", str(path), str(tmp_path / "none.warc.gz"), code=6)["files"]
    assert [each["state"] for each in files] == ["damaged", "missing"]


def test_a_record_is_read(home: Home, file: Path) -> None:
    """Its fields, its block, or what was sent."""
    offset = entries(file.read_bytes())[1].offset
    said = asked(home, "cat", str(file), str(offset))
    assert said["fields"]["warc-target-uri"] == URL
    done = home.vitrine("warcs", "cat", str(file), str(offset), "--payload")
    assert done.stdout.encode() == page(1)
    assert home.vitrine("warcs", "cat", str(file), str(offset)).stdout.startswith("HTTP/1.1 200 OK")
    wrong = home.vitrine("warcs", "cat", str(file), str(offset + 1))
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (
        6, "error[bad_record]: the record is damaged: no_record",
    )  # fmt: skip


def test_an_index_and_a_collection(home: Home, file: Path, tmp_path: Path) -> None:
    """Sorted by its bytes; of pywb's shape."""
    done = home.vitrine("warcs", "cdxj", str(file))
    lines = done.stdout.splitlines()
    assert lines == sorted(lines)
    assert [line.split()[0] for line in lines] == [
        "example,shop)/other",
        "example,shop)/p",
        "example,shop)/p",
    ]
    asked(home, "cdxj", str(file), "--pywb", str(tmp_path / "shop"))
    assert (tmp_path / "shop/indexes/index.cdxj").read_text(encoding="utf-8").splitlines() == lines
    assert (tmp_path / "shop/archive/made.warc.gz").resolve() == file


def test_files_of_one_name_in_a_collection(file: Path, tmp_path: Path) -> None:
    """The index never names another's bytes, and a link that leads nowhere is mended."""
    other = tmp_path / "other" / file.name
    other.parent.mkdir()
    other.write_bytes(made(exchange("https://other.example/", page(9)))[0])
    shop = tmp_path / "shop"
    (shop / "archive").mkdir(parents=True)
    (shop / "archive" / file.name).symlink_to(tmp_path / "gone")
    for _ in range(2):
        make_collection([file, other], shop, lambda *_: None)
        lines = (shop / "indexes" / "index.cdxj").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line.split(" ", 2)[2]) for line in lines]
        assert len(found) == 4
        for each in found:
            with (shop / "archive" / each["filename"]).open("rb") as opened:
                assert open_record(opened, int(each["offset"])).head.url == each["url"]


CANNOT_BE = [
    (("list", "/none"), 1, "error[not_found]: there is no folder /none"),
    (("cat", "FILE", "99999999999999999999"), 2, "error[usage]: Invalid value for 'OFFSET'"),
    (("cdxj", "FILE", "--pywb", "/proc/none"), 1, "error[error]: /proc/none: No such file or directory"),
]


@pytest.mark.parametrize(("arguments", "code", "told"), CANNOT_BE)
def test_what_cannot_be_done(
    home: Home, file: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    """Is told in one line, with the exit code that says whose fault it is."""
    done = home.vitrine("warcs", *(str(file) if each == "FILE" else each for each in arguments))
    assert (done.returncode, done.stderr[: len(told)]) == (code, told)


def test_a_url_is_erased(home: Home, tmp_path: Path) -> None:
    """Only with --yes; answer, requests and revisits go, rows and the audit log say so, nothing moves."""
    assert home.vitrine("db", "upgrade").returncode == 0
    database = home.database()
    shelf = WarcShelf(tmp_path, ABOUT, WarcRows(database), max_bytes=10**9, revisits="url")
    place = shelf.append(exchange(URL, page(1))).result()
    for url, number in ((OTHER, 2), (URL, 1)):
        shelf.append(exchange(url, page(number))).result()
    shelf.close()
    file = tmp_path / place.path
    before = file.read_bytes()
    shown = asked(home, "erase", str(file), "--url", URL)
    assert (len(shown["records"]), shown["is_done"], file.read_bytes()) == (4, False, before)
    done = asked(home, "erase", str(file), "--url", URL, "--reason", "a court said so", "--yes")
    after = file.read_bytes()
    assert len(after) == len(before)
    assert [each.offset for each in entries(after)] == [each.offset for each in entries(before)]
    assert stretches(after) == []
    assert {each.head.url for each in entries(after)} == {None, OTHER}
    with database.read() as db:
        row = db.scalars(select(WarcFile)).one()
        assert row.sha256 == done["sha256"] != done["sha256_before"]
        assert row.damage is not None
        assert row.damage["erased"][0]["sha256_before"] == done["sha256_before"]
        assert row.damage["erased"][0]["why"] == "a court said so"
        audit = db.scalars(select(AuditEntry)).one()
        assert (audit.action, audit.details["reason"]) == ("warc.erase", "a court said so")
        assert db.scalars(select(Record)).all() == []
    database.close()
    asked(home, "erase", str(file), "--url", URL, "--yes", code=4)
    asked(home, "verify", str(file))


def test_what_is_left_open_is_recovered(home: Home, tmp_path: Path) -> None:
    """Cut at the last whole record, sealed, listed."""
    data, _ = made(exchange(), exchange(OTHER))
    (tmp_path / "left.warc.gz.open").write_bytes(data[:-20])
    [found] = asked(home, "recover", str(tmp_path))["recovered"]
    assert (found["path"], found["records"], found["cut_bytes"] > 0) == ("left.warc.gz", 2, True)
    asked(home, "verify", str(tmp_path / "left.warc.gz"))
    [listed] = asked(home, "list")["files"]
    assert listed.keys() == {
        "id", "job", "session", "path", "state", "size_bytes", "records", "records_bad",
        "first_at", "last_at",
    }  # fmt: skip
    assert (listed["state"], listed["records"]) == ("sealed", 2)


def test_what_the_database_knows_to_be_open_is_recovered(home: Home, tmp_path: Path) -> None:
    """In whichever folder it lies, without being told."""
    assert home.vitrine("db", "upgrade").returncode == 0
    data, _ = made(exchange(), exchange(OTHER))
    (tmp_path / "left.warc.gz.open").write_bytes(data[:-20])
    database = Database(f"sqlite:///{home.path}/vitrine.db")
    with database.write() as db:
        now = db.now
        db.add(WarcFile(folder=str(tmp_path), path="left.warc.gz", state="open", created_at=now))
    database.close()
    [found] = asked(home, "recover")["recovered"]
    assert (found["path"], found["records"]) == ("left.warc.gz", 2)
    [listed] = asked(home, "list")["files"]
    assert (listed["state"], listed["records"]) == ("sealed", 2)


# ── which there are ──


def lay(folder: Path, *names: str, data: bytes = b"x") -> None:
    """Files in a folder."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_files_of_an_output_folder(tmp_path: Path) -> None:
    """Those of the temporary folders that the state names, and that are there; empty ones do not count."""
    lay(tmp_path, ".tmp1/collections/crawl-1/archive/a.warc.gz", ".tmp2/collections/crawl-2/archive/b.warc")
    lay(tmp_path, ".tmp1/collections/crawl-1/archive/empty.warc.gz", data=b"")
    lay(tmp_path, ".tmp1/collections/crawl-1/archive/c.warc.gz.open")
    state = {"temp_dirs_host_paths": [str(tmp_path / ".tmp1"), str(tmp_path / ".tmp9")]}
    (tmp_path / ".archive_state.json").write_text(json.dumps(state), encoding="utf-8")
    before = (tmp_path / ".archive_state.json").read_bytes()
    assert [path.name for path in discover(tmp_path)] == ["a.warc.gz"]
    assert (tmp_path / ".archive_state.json").read_bytes() == before


def test_the_newest_folder_stands_in(tmp_path: Path) -> None:
    """Where the state names none; unless that is not wanted."""
    lay(tmp_path, ".tmp-old/x.warc.gz", ".tmp-new/y.warc.gz")
    os.utime(tmp_path / ".tmp-old", (time.time() - 99, time.time() - 99))
    assert [path.name for path in discover(tmp_path)] == ["y.warc.gz"]
    assert discover(tmp_path, allow_fallback=False) == []
    assert discover(tmp_path / "none") == []


def test_stable_copies_come_first(tmp_path: Path) -> None:
    """The same name and size counts once (K27)."""
    lay(tmp_path, "warcs/a.warc.gz", ".tmp1/a.warc.gz", ".tmp1/b.warc.gz")
    assert [path.relative_to(tmp_path).as_posix() for path in discover(tmp_path)] == [
        "warcs/a.warc.gz", ".tmp1/b.warc.gz",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "named", ["/etc/.tmpx", "../x", "../.tmpx", "{outside}/.tmpx", "link", ".tmplink", "\0", ""]
)
def test_a_state_file_names_no_other_place(tmp_path: Path, named: str) -> None:
    """Only a folder `.tmp…` right below, and no link; whoever wrote the file."""
    outside, output = tmp_path / "outside", tmp_path / "output"
    lay(outside, ".tmpx/secret.warc.gz", "x/secret.warc.gz")
    lay(tmp_path, ".tmpx/secret.warc.gz", "x/secret.warc.gz")
    output.mkdir()
    (output / ".tmplink").symlink_to(outside / ".tmpx")
    (output / "link").symlink_to(outside)
    state = {"temp_dirs_host_paths": [named.format(outside=outside), 5, None]}
    (output / ".archive_state.json").write_text(json.dumps(state), encoding="utf-8")
    assert discover(output) == []


@pytest.mark.parametrize("text", ["", "[]", "{", '{"temp_dirs_host_paths": 5}', "[" * 99_999])
def test_a_state_file_that_says_nothing(tmp_path: Path, text: str) -> None:
    """Is none."""
    (tmp_path / ".archive_state.json").write_text(text, encoding="utf-8")
    lay(tmp_path, ".tmp1/a.warc.gz")
    assert len(discover(tmp_path)) == 1


def test_a_manifest_is_compared(home: Home, file: Path, tmp_path: Path) -> None:
    """Sizes and digests; what it names and is not there is missing."""
    entry = {"path": file.name, "size_bytes": file.stat().st_size}
    (tmp_path / "manifest.json").write_text(json.dumps({"entries": [entry]}), encoding="utf-8")
    asked(home, "verify", str(tmp_path), "--manifest")
    wrong = [{**entry, "size_bytes": 1}, {"path": "../../etc/passwd"}, {"path": file.name, "sha256": "00"}]
    (tmp_path / "manifest.json").write_text(json.dumps({"entries": wrong}), encoding="utf-8")
    found = asked(home, "verify", str(tmp_path), "--manifest", code=6)["files"]
    assert [each["state"] for each in found] == ["damaged", "missing", "damaged"]
