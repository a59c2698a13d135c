"""`vitrine warcs`: what is in archives, whether it is whole, and what is taken out of them."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select, update

from crawler.config import load_settings
from crawler.db.engine import Database
from crawler.db.models import AuditEntry, Record, WarcFile
from crawler.evidence.warc_files import WarcRows
from crawler.evidence.warc_shelf import WarcShelf
from tests.unit.warc import foreign
from tests.unit.warc.made import ABOUT, appended, entries, exchange, made, page, stretches

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.cli.conftest import Vitrine

URL = "https://shop.example/p"
OTHER = "https://shop.example/other"


def asked(vitrine: Vitrine, *arguments: str, code: int = 0) -> dict[str, Any]:
    """What a command says in JSON."""
    done = vitrine("warcs", *arguments, "--json")
    assert done.code == code, (done.out, done.err)
    return dict(done.document)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two pages, and one of them again."""
    data, _ = made(exchange(URL, page(1)), exchange(OTHER, page(2)), exchange(URL, page(1)), revisits="url")
    path = tmp_path / "made.warc.gz"
    path.write_bytes(data)
    return path


def test_a_whole_file(vitrine: Vitrine, file: Path) -> None:
    """Every record counted, every digest made again."""
    [found] = asked(vitrine, "verify", str(file))["files"]
    assert (found["file"], found["state"], found["records"]) == (str(file), "sealed", 7)
    assert (found["records_bad"], found["bad"], found["digests_wrong"]) == (0, [], 0)
    assert found["digests_checked"] == 12


def test_a_damaged_file(vitrine: Vitrine, file: Path) -> None:
    """Exit 6, and each bad stretch by its place; for people too."""
    data = file.read_bytes()
    file.write_bytes(data[:500] + bytes(60) + data[560:])
    [found] = asked(vitrine, "verify", str(file), code=6)["files"]
    [bad] = found["bad"]
    assert bad.keys() == {"offset", "length", "reason"}
    assert bad["offset"] < 500 < bad["offset"] + bad["length"]
    assert (found["state"], found["records_bad"], found["records"]) == ("damaged", 1, 6)
    done = vitrine("warcs", "verify", str(file))
    assert f"bytes at {bad['offset']}: {bad['reason']}" in done.out


def test_valid_records_of_other_programs(vitrine: Vitrine, tmp_path: Path) -> None:
    """None of their forms is damage, and each is in the index."""
    records = foreign.records()
    path = tmp_path / "foreign.warc.gz"
    path.write_bytes(foreign.packed(records))
    [found] = asked(vitrine, "verify", str(path))["files"]
    assert (found["state"], found["records"], found["records_bad"]) == ("sealed", len(records), 0)
    assert (found["digests_checked"], found["digests_wrong"]) == (3, 0)
    lines = vitrine("warcs", "cdxj", str(path)).out.splitlines()
    urls = {json.loads(line.split(" ", 2)[2])["url"] for line in lines if not line.startswith("!")}
    assert urls == {f"{foreign.URL}/{name}" for name in records}


def test_a_record_is_read(vitrine: Vitrine, file: Path) -> None:
    """Its fields, its block, or what was sent."""
    offset = entries(file.read_bytes())[1].offset
    said = asked(vitrine, "cat", str(file), str(offset))
    assert said["fields"]["warc-target-uri"] == URL
    done = vitrine("warcs", "cat", str(file), str(offset), "--payload")
    assert done.out.encode() == page(1)
    assert vitrine("warcs", "cat", str(file), str(offset)).out.startswith("HTTP/1.1 200 OK")
    wrong = vitrine("warcs", "cat", str(file), str(offset + 1))
    assert (wrong.code, wrong.err.splitlines()[0]) == (
        6, "error[bad_record]: the record is damaged: no_record",
    )  # fmt: skip


def test_the_index_of_a_job(vitrine: Vitrine, file: Path, tmp_path: Path) -> None:
    """All files of its folder are in the collection; a job without files, or that is none, is told."""
    folder = tmp_path / "job"
    (folder / "warcs").mkdir(parents=True)
    (folder / "warcs" / "a.warc.gz").write_bytes(file.read_bytes())
    assert vitrine("db", "upgrade").code == 0
    assert vitrine("sources", "seed").code == 0
    done = vitrine("jobs", "register", "--source", "hc", "--output-dir", str(folder), "--json")
    assert done.code == 0, done.err
    made = asked(vitrine, "cdxj", "--job", "1", "--pywb", str(tmp_path / "pywb"))
    assert made["files"] == [str(folder / "warcs" / "a.warc.gz")]
    lines = (tmp_path / "pywb/indexes/index.cdxj").read_text(encoding="utf-8").splitlines()
    assert lines == vitrine("warcs", "cdxj", "--job", "1").out.splitlines()
    assert len(lines) == 3
    (folder / "warcs" / "a.warc.gz").unlink()
    assert "job 1 has no WARC file in" in vitrine("warcs", "cdxj", "--job", "1").err
    assert vitrine("warcs", "cdxj", "--job", "2").code == 1
    assert vitrine("warcs", "cdxj").code == vitrine("warcs", "cdxj", str(file), "--job", "1").code == 2


def test_a_url_is_erased(vitrine: Vitrine, tmp_path: Path) -> None:
    """Only with --yes; answer, requests and revisits go, rows and the audit log say so, nothing moves."""
    assert vitrine("db", "upgrade").code == 0
    database = Database(load_settings().database)
    shelf = WarcShelf(tmp_path, ABOUT, WarcRows(database), max_bytes=10**9, revisits="url")
    place = appended(shelf, exchange(URL, page(1)))
    for url, number in ((OTHER, 2), (URL, 1)):
        appended(shelf, exchange(url, page(number)))
    shelf.close()
    file = tmp_path / place.path
    before = file.read_bytes()
    shown = asked(vitrine, "erase", str(file), "--url", URL)
    assert (len(shown["records"]), shown["is_done"], file.read_bytes()) == (4, False, before)
    done = asked(vitrine, "erase", str(file), "--url", URL, "--reason", "a court said so", "--yes")
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
        assert list(db.scalars(select(Record.url).where(Record.gone_at.is_(None)))) == [OTHER]
    database.close()
    asked(vitrine, "erase", str(file), "--url", URL, "--yes", code=4)
    asked(vitrine, "verify", str(file))


@pytest.mark.parametrize("is_packed", [True, False], ids=["packed", "plain"])
def test_a_record_of_another_program_is_erased(vitrine: Vitrine, tmp_path: Path, *, is_packed: bool) -> None:
    """In a file that begins in small letters, too: the other records stay whole."""
    records = foreign.records()
    records = {"small-letters": records.pop("small-letters"), **records}
    path = tmp_path / "foreign.warc"
    path.write_bytes(foreign.packed(records) if is_packed else b"".join(records.values()))
    assert vitrine("db", "upgrade").code == 0
    done = asked(vitrine, "erase", str(path), "--url", f"{foreign.URL}/folded", "--yes")
    assert len(done["records"]) == 1
    found = {each.head.url: each for each in entries(path.read_bytes())}
    assert {*found} == {None, *(f"{foreign.URL}/{name}" for name in records if name != "folded")}
    assert stretches(path.read_bytes()) == []


def test_an_erasure_does_not_hide_that_a_file_was_altered(vitrine: Vitrine, tmp_path: Path) -> None:
    """A check that failed before an erasure fails after it."""
    assert vitrine("db", "upgrade").code == 0
    database = Database(load_settings().database)
    shelf = WarcShelf(tmp_path, ABOUT, WarcRows(database), max_bytes=10**9, revisits="url")
    place = appended(shelf, exchange(URL, page(1)))
    other = appended(shelf, exchange(OTHER, page(2)))
    shelf.close()
    database.close()
    file = tmp_path / place.path
    with file.open("r+b") as opened:
        opened.seek(other.offset + 4)  # the time in the header of gzip, which no digest of a record covers
        opened.write(b"time")
    asked(vitrine, "verify", str(file), code=6)
    asked(vitrine, "erase", str(file), "--url", URL, "--yes")
    asked(vitrine, "verify", str(file), code=6)


@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_left_open_is_recovered(vitrine: Vitrine, tmp_path: Path, *, is_known: bool) -> None:
    """Cut at the last whole record, sealed, listed; the database knows in which folders such files may be."""
    assert vitrine("db", "upgrade").code == 0
    data, _ = made(exchange(), exchange(OTHER))
    (tmp_path / "left.warc.gz.open").write_bytes(data[:-20])
    if is_known:
        database = Database(load_settings().database)
        with database.write() as db:
            db.add(WarcFile(folder=str(tmp_path), path="left.warc.gz", state="open", created_at=db.now))
        database.close()
    [found] = asked(vitrine, "recover", *([] if is_known else [str(tmp_path)]))["recovered"]
    assert (found["path"], found["records"], found["cut_bytes"] > 0) == ("left.warc.gz", 2, True)
    asked(vitrine, "verify", str(tmp_path / "left.warc.gz"))
    [listed] = asked(vitrine, "list")["files"]
    assert listed.keys() == {
        "id", "job", "session", "path", "state", "size_bytes", "records", "records_bad",
        "first_at", "last_at", "why",
    }  # fmt: skip
    assert (listed["state"], listed["records"]) == ("sealed", 2)


def test_what_a_check_finds_is_stored(vitrine: Vitrine, tmp_path: Path) -> None:
    """A file that is changed or missing is listed as damaged until it is found well again."""
    assert vitrine("db", "upgrade").code == 0
    database = Database(load_settings().database)
    shelf = WarcShelf(tmp_path / "warcs", ABOUT, WarcRows(database), max_bytes=10**9)
    for number in range(3):
        appended(shelf, exchange(f"{URL}{number}", page(number)))
    shelf.close()
    database.close()
    [path] = (tmp_path / "warcs").glob("*.warc.gz")
    whole = path.read_bytes()

    def listed() -> tuple[str, str]:
        [each] = asked(vitrine, "list")["files"]
        return each["state"], each["why"]

    assert listed() == ("sealed", "")
    path.write_bytes(whole[:4] + b"1234" + whole[8:])  # when its first member was packed
    [found] = asked(vitrine, "verify", str(path), code=6)["files"]
    assert (found["state"], found["records_bad"], found["digests_wrong"]) == ("damaged", 0, 0)
    assert found["sha256"] != found["sha256_recorded"]
    state, why = listed()
    assert state == "damaged"
    assert "its digest is another" in why
    path.write_bytes(whole)
    asked(vitrine, "verify", str(path), "--level", "1")
    assert listed()[0] == "damaged"  # for not everything was read
    asked(vitrine, "verify", str(path))
    assert listed() == ("sealed", "")
    path.unlink()
    asked(vitrine, "verify", str(path), "--level", "0", code=6)
    state, why = listed()
    assert state == "damaged"
    assert "missing" in why


def test_a_manifest_is_compared(vitrine: Vitrine, file: Path, tmp_path: Path) -> None:
    """Sizes and digests; what it names and is not there is missing."""
    entry = {"path": file.name, "size_bytes": file.stat().st_size}
    (tmp_path / "manifest.json").write_text(json.dumps({"entries": [entry]}), encoding="utf-8")
    asked(vitrine, "verify", str(tmp_path), "--manifest")
    wrong = [{**entry, "size_bytes": 1}, {"path": "../../etc/passwd"}, {"path": file.name, "sha256": "00"}]
    (tmp_path / "manifest.json").write_text(json.dumps({"entries": wrong}), encoding="utf-8")
    found = asked(vitrine, "verify", str(tmp_path), "--manifest", code=6)["files"]
    assert [each["state"] for each in found] == ["damaged", "missing", "damaged"]


def an_archive(folder: Path, count: int = 4) -> Path:
    """An archive as a job leaves it after some attempts, each of which has a temporary folder."""
    named = [folder / f".tmp{number}" for number in range(count)]
    for number, temp in enumerate(named):
        path = temp / "collections" / "crawl-1" / "archive" / f"{number}.warc.gz"
        path.parent.mkdir(parents=True)
        path.write_bytes(made(exchange(f"{URL}/{number}", page(number)))[0])
    said = json.dumps({"temp_dirs_host_paths": [str(temp) for temp in named]})
    (folder / ".archive_state.json").write_text(said, encoding="utf-8")
    return folder


def test_a_file_that_the_database_knows_is_missed(vitrine: Vitrine, tmp_path: Path) -> None:
    """Wherever below the folder it was; one that was removed by policy is not."""
    folder = tmp_path / "warcs"
    assert vitrine("db", "upgrade").code == 0
    database = Database(load_settings().database)
    for _ in range(2):
        shelf = WarcShelf(folder, ABOUT, WarcRows(database), max_bytes=10**9)
        appended(shelf, exchange(URL, page(1)))
        shelf.close()
    there, lost = sorted(folder.iterdir())
    lost.unlink()
    found = asked(vitrine, "verify", "warcs", code=6)["files"]
    assert {(each["file"], each["state"]) for each in found} == {
        (f"warcs/{there.name}", "sealed"), (str(lost), "missing"),
    }  # fmt: skip
    with database.write() as db:
        db.execute(update(WarcFile).where(WarcFile.path == lost.name).values(state="gone", gone_at=db.now))
    assert len(asked(vitrine, "verify", "warcs")["files"]) == 1
    database.close()


def test_what_an_archive_lacks_is_told(vitrine: Vitrine, tmp_path: Path) -> None:
    """A folder that its state names: the rest is listed and checked, and the exit code says that it lacks."""
    folder = an_archive(tmp_path / "archive")
    shutil.rmtree(folder / ".tmp2")
    (folder / "warcs").mkdir()
    (folder / "warcs" / "manifest.json").write_text('[{"path": "gone.warc.gz"}]', encoding="utf-8")
    lost = {str(folder / ".tmp2"), str(folder / "warcs" / "gone.warc.gz")}
    for command, code in (("list", 0), ("verify", 6)):
        files = asked(vitrine, command, str(folder), code=code)["files"]
        assert len(files) == 5
        assert {each.get("file", each.get("path")) for each in files if each["state"] == "missing"} == lost
    assert len(asked(vitrine, "cdxj", str(folder), code=6)["lines"]) == 3
    done = vitrine("warcs", "cdxj", str(folder))
    assert (done.code, all(f"{path} is missing" in done.err for path in lost)) == (6, True)
