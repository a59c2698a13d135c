"""What an archive's folder holds is counted, and taken out of its logs, without following a link."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from crawler.evidence import archive_folders as folders
from crawler.evidence.archive_folders import Sizes

if TYPE_CHECKING:
    from pathlib import Path

LOG = "archive_crawl_1.combined.log"


def lay(folder: Path, files: dict[str, bytes]) -> None:
    """Files in a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def test_how_much_there_is(tmp_path: Path) -> None:
    """By what it is: WARC files that count, temporary ones, the rest; nothing behind a link."""
    outside, archive = tmp_path / "outside", tmp_path / "archive"
    lay(outside, {"big.warc.gz": b"x" * 1000})
    lay(
        archive,
        {
            "warcs/a.warc.gz": b"12345", "warcs/manifest.json": b"{}", ".tmpa/x/b.warc": b"123",
            ".tmpa/log": b"1", ".tmpa/empty.warc.gz": b"", "c.warc.gz": b"1234", "tmpc/d.warc.gz": b"12",
        },
    )  # fmt: skip
    (archive / ".tmplink").symlink_to(outside)
    (archive / "warcs" / "link.warc.gz").symlink_to(outside / "big.warc.gz")
    assert folders.sizes_of(archive) == Sizes(2, 8, 17, 4, 1)
    assert folders.sizes_of(tmp_path / "none") == Sizes()


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"5", b'{"entries": 5}', b'{"entries": [5, "x"]}', b"[" * 99_999, b"\xff\xfe"]
)
def test_a_manifest_that_says_nothing(tmp_path: Path, text: bytes) -> None:
    """Is none; whoever wrote it."""
    lay(tmp_path, {"manifest.json": text})
    assert folders.entries_of(tmp_path) == []
    folders.correct_entry(tmp_path / "a.warc.gz", None)
    assert (tmp_path / "manifest.json").read_bytes() == text


def test_a_manifest_follows_its_files(tmp_path: Path) -> None:
    """One that changed has its new size and digest beside what else is said of it; one that went is gone."""
    entries: list[dict[str, Any]] = [
        {"path": "a.gz", "size_bytes": 1, "found_at": ".tmpa/a.gz"},
        {"path": "b.gz"},
        {"path": 5},
    ]
    folders.write_entries(tmp_path, entries)
    (tmp_path / "a.gz").write_bytes(b"1234")
    folders.correct_entry(tmp_path / "a.gz", "abc")
    folders.correct_entry(tmp_path / "b.gz", None)
    folders.correct_entry(tmp_path / "unknown.gz", "abc")
    assert folders.entries_of(tmp_path) == [
        {"path": 5},
        {"path": "a.gz", "size_bytes": 4, "found_at": ".tmpa/a.gz", "sha256": "abc"},
    ]
    assert json.loads((tmp_path / "manifest.json").read_bytes())["version"] == folders.VERSION


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (".tmpa/x/a.gz", True), (".tmpa/./x/a.gz", True), ("/etc/passwd", False), ("../x/a.gz", False),
        (".tmpa/../x", False), (".tmplink/a.gz", False), (".tmpa/link.gz", False),
        (".tmpa/out/a.gz", False), ("", False), (5, False), ("\0", False), (".tmpa/none.gz", False),
        (".tmpa", False), (".tmpa/" + "x" * 5_000, False), ("warcs/a.gz", False),
    ],
)  # fmt: skip
def test_where_a_file_came_from(tmp_path: Path, said: object, *, found: bool) -> None:
    """A manifest is no way out of its archive, whatever it says."""
    outside, archive = tmp_path / "outside", tmp_path / "archive"
    lay(outside, {"a.gz": b"secret"})
    lay(archive, {".tmpa/x/a.gz": b"1", "warcs/a.gz": b"1"})
    (archive / ".tmplink").symlink_to(outside)
    (archive / ".tmpa" / "out").symlink_to(outside)
    (archive / ".tmpa" / "link.gz").symlink_to(outside / "a.gz")
    folders.write_entries(archive / "warcs", [{"path": "a.gz", "found_at": said}])
    assert folders.found_at(archive / "warcs" / "a.gz") == (archive / ".tmpa/x/a.gz" if found else None)


def test_logs_come_newest_first(tmp_path: Path) -> None:
    """No link to a file, and nothing that is older than what is asked for."""
    for number, name in enumerate(("archive_a.combined.log", "archive_b.combined.log", "other.log")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (number, number))
    (tmp_path / "archive_link.combined.log").symlink_to("/etc/passwd")
    assert [path.name for path in folders.logs_in(tmp_path)] == [
        "archive_b.combined.log",
        "archive_a.combined.log",
    ]
    assert [path.name for path in folders.logs_in(tmp_path, 1)] == ["archive_b.combined.log"]


NAMED = [
    "https://shop.example/", "shop.example", "www.shop.example:443", "SHOP.EXAMPLE", "@shop.example.",
    "?next=https%3A%2F%2Fshop.example%2Fp", "?q=red%20shop.example", "?u%3Dshop.example",
    '{"a":"x\\nshop.example"}', "%252Fshop.example", "\\u003cshop.example", "\\x20shop.example",
    "http:\\/\\/shop.example\\/",
]  # fmt: skip
NOT_NAMED = [
    "https://myshop.example/", "my-shop.example", "shop.example.org", "shop.examples", "shop-example",
    "shopxexample",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "named"), [*((each, True) for each in NAMED), *((each, False) for each in NOT_NAMED)]
)
def test_a_line_that_names_a_domain_goes(tmp_path: Path, text: str, *, named: bool) -> None:
    """With its subdomains, however it is spelt; a log without one is not even written again."""
    lay(tmp_path, {LOG: f"one\n{text}\ntwo".encode()})
    before = (tmp_path / LOG).stat().st_ino
    assert folders.lines_naming(tmp_path, "shop.example") == named
    assert folders.cut_lines_naming(tmp_path, "shop.example") == named
    assert (tmp_path / LOG).read_bytes() == (b"one\ntwo" if named else f"one\n{text}\ntwo".encode())
    assert ((tmp_path / LOG).stat().st_ino == before) is not named


def test_a_name_of_other_letters(tmp_path: Path) -> None:
    """Is found in both of its spellings; a name is no pattern."""
    lay(tmp_path, {LOG: "https://bücher.example/\nxn--bcher-kva.example\nkept\n".encode()})
    assert folders.cut_lines_naming(tmp_path, "xn--bcher-kva.example") == 2
    assert folders.lines_naming(tmp_path, ".*") == 0
    assert (tmp_path / LOG).read_bytes() == b"kept\n"


def test_what_somebody_laid_beside_a_log_is_not_written_through(tmp_path: Path) -> None:
    """A link of the name of the new file leads nowhere; the log keeps its mode."""
    (tmp_path / "target").write_bytes(b"precious")
    lay(tmp_path, {LOG: b"shop.example\nkept\n"})
    (tmp_path / LOG).chmod(0o640)
    (tmp_path / f".{LOG}.cut").symlink_to(tmp_path / "target")
    assert folders.cut_lines_naming(tmp_path, "shop.example") == 1
    assert (tmp_path / "target").read_bytes() == b"precious"
    assert ((tmp_path / LOG).read_bytes(), (tmp_path / LOG).stat().st_mode & 0o777) == (b"kept\n", 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOG, "target"]
