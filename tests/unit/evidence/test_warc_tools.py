"""What is done to WARC files that lie somewhere: how closely they are looked at, and which count."""

from __future__ import annotations

import gzip
import json
import os
import time
from random import Random
from typing import TYPE_CHECKING

import pytest

from crawler.evidence import warc_tools
from crawler.evidence.warc_tools import (
    Level,
    discover,
    erase,
    in_folder,
    index,
    make_collection,
    missing_in,
    verify,
)  # fmt: skip
from crawler.warc.reader import NOT_SEEKABLE, Bad, open_record
from crawler.warc.records import digest, member, new_id, record
from tests.unit.warc.made import AT, entries, exchange, made, page, stretches

if TYPE_CHECKING:
    from pathlib import Path

WELL, [(_, PAIR)] = made(exchange("https://shop.example/p", page(1)))
OTHER_DIGEST = member(
    record(
        "resource", new_id(),
        (("WARC-Date", "2026-01-02T03:04:05Z"), ("WARC-Target-URI", "https://shop.example/"),
         ("Content-Type", "text/plain"), ("WARC-Block-Digest", digest(b"other"))),
        b"this",
    )
)  # fmt: skip


def lay(folder: Path, *names: str, data: bytes = b"x") -> None:
    """Files in a folder."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def name_folders(output: Path, *folders: object) -> None:
    """The state file of an archive tool, which names its temporary folders."""
    state = json.dumps({"temp_dirs_host_paths": folders})
    (output / ".archive_state.json").write_text(state, encoding="utf-8")


@pytest.mark.parametrize(
    ("data", "well"),
    [
        (WELL, {Level.THERE, Level.WHOLE, Level.DIGESTS}), (OTHER_DIGEST, {Level.THERE, Level.WHOLE}),
        (WELL[:-20], {Level.THERE}), (b"no archive", {Level.THERE}), (b"", set()),
    ],
    ids=["well", "another digest", "torn", "no archive", "empty"],
)  # fmt: skip
def test_a_file_is_looked_at_as_closely_as_is_asked(tmp_path: Path, data: bytes, well: set[Level]) -> None:
    """Each level finds what the one below passes over."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(data)
    assert {level for level in Level if verify(path, level).is_well} == well
    assert verify(path, Level.WHOLE).digests_checked == 0
    assert {verify(tmp_path / "none.warc.gz", level).state for level in Level} == {"missing"}


def test_empty_files_are_passed_over_where_pages_are_looked_for(tmp_path: Path) -> None:
    """And counted where damage is."""
    lay(tmp_path, "warcs/a.warc.gz")
    lay(tmp_path, "warcs/b.warc.gz", "c.warc", data=b"")
    assert [path.name for path in discover(tmp_path)] == ["a.warc.gz"]
    assert [path.name for path in discover(tmp_path, with_empty=True)] == ["a.warc.gz", "b.warc.gz"]
    assert in_folder(tmp_path) == []
    assert [path.name for path in in_folder(tmp_path, with_empty=True)] == ["c.warc"]


def test_files_of_one_name_in_a_collection(tmp_path: Path) -> None:
    """The index never names another's bytes, and a link that leads nowhere is mended."""
    file = tmp_path / "made.warc.gz"
    file.write_bytes(made(exchange("https://shop.example/p"), exchange("https://shop.example/q"))[0])
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
        assert len(found) == 3
        for each in found:
            with (shop / "archive" / each["filename"]).open("rb") as opened:
                assert open_record(opened, int(each["offset"])).head.url == each["url"]


def test_files_of_an_output_folder(tmp_path: Path) -> None:
    """Those of all temporary folders that are there, whatever the state names; empty ones do not count."""
    lay(tmp_path, ".tmp1/collections/crawl-1/archive/a.warc.gz", ".tmp2/collections/crawl-2/archive/b.warc")
    lay(tmp_path, ".tmp1/collections/crawl-1/archive/empty.warc.gz", data=b"")
    lay(tmp_path, ".tmp1/collections/crawl-1/archive/c.warc.gz.open")
    name_folders(tmp_path, str(tmp_path / ".tmp1"), str(tmp_path / ".tmp9"))
    before = (tmp_path / ".archive_state.json").read_bytes()
    assert [path.name for path in discover(tmp_path)] == ["a.warc.gz", "b.warc"]
    assert missing_in(tmp_path) == [tmp_path / ".tmp9"]
    assert (tmp_path / ".archive_state.json").read_bytes() == before


def test_an_archive_may_be_moved(tmp_path: Path) -> None:
    """Its folders count by their names, wherever they were; the oldest comes first."""
    lay(tmp_path, ".tmp-old/x.warc.gz", ".tmp-new/y.warc.gz")
    os.utime(tmp_path / ".tmp-old", (time.time() - 99, time.time() - 99))
    name_folders(tmp_path, "/before/.tmp-old", "/before/.tmp-new", "/before/.tmp-lost")
    assert [path.name for path in discover(tmp_path)] == ["x.warc.gz", "y.warc.gz"]
    assert missing_in(tmp_path) == [tmp_path / ".tmp-lost"]
    assert discover(tmp_path / "none") == []
    assert missing_in(tmp_path / "none") == []


def test_what_was_copied_is_not_missed(tmp_path: Path) -> None:
    """The manifest says from where; the copy comes first and counts once; what is named has to be there."""
    lay(tmp_path, "warcs/a.warc.gz", ".tmp2/a.warc.gz", ".tmp2/c.warc.gz")
    found = [path.relative_to(tmp_path).as_posix() for path in discover(tmp_path)]
    assert found == ["warcs/a.warc.gz", ".tmp2/c.warc.gz"]
    name_folders(tmp_path, str(tmp_path / ".tmp1"))
    entries = [{"path": name, "found_at": ".tmp1/x/a.warc.gz"} for name in ("a.warc.gz", "b.warc.gz")]
    (tmp_path / "warcs" / "manifest.json").write_text(json.dumps(entries), encoding="utf-8")
    assert missing_in(tmp_path) == [tmp_path / "warcs" / "b.warc.gz"]


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
    name_folders(output, named.format(outside=outside), 5, None)
    assert discover(output) == []


@pytest.mark.parametrize("text", ["", "[]", "{", '{"temp_dirs_host_paths": 5}', "[" * 99_999])
def test_a_state_file_that_says_nothing(tmp_path: Path, text: str) -> None:
    """Is none."""
    (tmp_path / ".archive_state.json").write_text(text, encoding="utf-8")
    lay(tmp_path, ".tmp1/a.warc.gz")
    assert len(discover(tmp_path)) == 1


def test_what_shares_a_member_has_no_line(tmp_path: Path) -> None:
    """Nobody could find it by its place; that is told once, and the next member's records have theirs."""
    path, told = tmp_path / "a.warc.gz", []
    shared = gzip.compress(gzip.decompress(WELL))
    path.write_bytes(shared + WELL)
    lines = list(index([path], lambda _, bad: told.append(bad)))
    assert [json.loads(line.split(b" ", 2)[2])["offset"] for line in lines] == [
        str(len(shared) + len(WELL) - len(PAIR.data))
    ]
    assert told == [Bad(0, len(shared), NOT_SEEKABLE)]


def test_an_answer_without_a_date_has_the_servers(tmp_path: Path) -> None:
    """Old writers left it out; what has neither has no line (SPEC 155)."""
    fields = (("WARC-Target-URI", "https://shop.example/"), ("Content-Type", "application/http"))
    said = b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nx"
    path = tmp_path / "a.warc.gz"
    path.write_bytes(
        member(record("response", new_id(), fields, said))
        + member(record("response", new_id(), fields, b"HTTP/1.1 200 OK\r\n\r\nx"))
    )
    [line] = index([path], lambda *_: None)
    assert line.split()[1] == b"19941106084937"


@pytest.mark.parametrize("share", [0, 0.5, 0.999])
@pytest.mark.parametrize("packed", [True, False])
def test_whoever_dies_over_an_erasure_leaves_it_to_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, *, packed: bool
) -> None:
    """Half a record has no URL any more, and yet nothing of it stays; what is beside it does."""
    body = b"<html>" + Random(7).randbytes(300_000).hex().encode()
    data, _ = made(exchange("https://gone.example/", body), exchange("https://stays.example/", page(1)))
    data = data if packed else gzip.decompress(data)
    file = tmp_path / "made.warc"
    file.write_bytes(data)
    fill = warc_tools._fill

    def die(path: Path, pieces: list[tuple[int, list[bytes]]]) -> None:
        for offset, whole in pieces:
            piece = b"".join(whole)
            fill(path, [(offset, [piece[: int(len(piece) * share)]])])
            raise KeyboardInterrupt

    monkeypatch.setattr(warc_tools, "_fill", die)
    with pytest.raises(KeyboardInterrupt):
        erase(file, "https://gone.example/", AT, dry_run=False)
    monkeypatch.setattr(warc_tools, "_fill", fill)
    erase(file, "https://gone.example/", AT, dry_run=False)
    left = file.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    assert (len(left), stretches(left)) == (len(data), [])
    assert {each.head.url for each in entries(left)} == {None, "https://stays.example/"}
    same = sum(ours == theirs for ours, theirs in zip(left[400:300_000], data[400:300_000], strict=True))
    assert same < 30_000  # by chance


@pytest.mark.parametrize("plan", ["", "{", "[[0, 1]]", '[["a", 2]]', "[[-1, 500]]", "[[0, 99999999]]", "[1]"])
def test_a_plan_that_makes_no_sense_is_nobodys(tmp_path: Path, plan: str) -> None:
    """As one that was not written to its end; what is to be erased is."""
    file = tmp_path / "made.warc.gz"
    file.write_bytes(WELL)
    (tmp_path / ".made.warc.gz.erasing").write_text(plan, encoding="utf-8")
    assert erase(file, "https://shop.example/p", AT, dry_run=False).is_done
    assert stretches(file.read_bytes()) == []
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
