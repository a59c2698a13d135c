"""What other people's programs make of our WARC files: pywb, warcio, FastWARC and cdxj-indexer."""

from __future__ import annotations

import gzip
import subprocess
from typing import TYPE_CHECKING

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from tests.programs.peers import own_pywb
from tests.unit.warc.made import entries, exchange, made, page
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from crawler.warc.reader import Entry
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak
URL = "https://shop.example/p?b=2&a=1"
OTHER = "https://shop.example/other"


def run(programs: Path, name: str, *arguments: object, folder: Path | None = None) -> str:
    """What a peer prints; one that fails is an error."""
    done = subprocess.run(
        [programs / name, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def recorded(home: Home, shops: DemoServer) -> list[Path]:
    """The files of a crawl, some of which a killed process had left."""
    done = home.scrapy(
        "crawl", "site", "-a", f"start_url={shops.url('plain')}", "-a", "max_pages=6",
        "-s", "DOWNLOAD_DELAY=0", "-s", "PAGE_STORE=warc",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    folder = home.path / "warcs"
    data, _ = made(exchange(URL, page(1)), exchange(OTHER, page(2)))
    (folder / "left.warc.gz.open").write_bytes(data[:-100])
    assert home.vitrine("warcs", "recover").returncode == 0
    return sorted(folder.iterdir())


def test_peers_read_what_was_recorded(home: Home, shops: DemoServer, peers: Path) -> None:
    """`warcio check`, FastWARC's digests and cdxj-indexer are content with every file, and index the same."""
    files = recorded(home, shops)
    assert len(files) > 1
    for file in files:
        run(peers, "warcio", "check", file)
        with file.open("rb") as stream:
            read = [each for each in ArchiveIterator(stream) if each.record_type is WarcRecordType.response]
            assert read
        ours = home.vitrine("warcs", "cdxj", str(file)).stdout.splitlines()
        theirs = run(peers, "cdxj-indexer", "-s", file).splitlines()
        assert [line.split(" ")[:2] for line in ours] == [line.split(" ")[:2] for line in theirs]


def test_pywb_serves_a_collection(home: Home, shops: DemoServer, peers: Path, tmp_path: Path) -> None:
    """Made by our command in a folder of its own kind; every body is what was sent, revisits among them."""
    files = recorded(home, shops)
    data, _ = made(exchange(URL, page(1)), exchange(OTHER, page(2)), exchange(URL, page(1)), revisits="url")
    packed = ((b"Content-Type", b"text/html"), (b"Content-Encoding", b"gzip"))
    more, _ = made(exchange("https://shop.example/packed", gzip.compress(page(3)), headers=packed))
    for name, content in (("made.warc.gz", data), ("more.warc.gz", more)):
        (tmp_path / name).write_bytes(content)
        files.append(tmp_path / name)
    root = tmp_path / "pywb"
    root.mkdir()
    run(peers, "wb-manager", "init", "shop", folder=root)
    done = home.vitrine("warcs", "cdxj", *map(str, files), "--pywb", str(root / "collections" / "shop"))
    assert done.returncode == 0, done.stderr
    with own_pywb(peers, root) as pywb:
        wait_for(pywb.answers)
        for url, body in ((URL, page(1)), (OTHER, page(2)), ("https://shop.example/packed", page(3))):
            assert pywb.get(f"shop/20260504120000id_/{url}") == (200, body)
        for file in files[:-2]:
            for each in answers(file):
                assert each.message is not None
                status, content = pywb.get(f"shop/{stamp(each)}id_/{each.head.url}")
                assert status == each.message.status
                assert bool(content) == (each.block_length > each.message.size)
        assert pywb.get("shop/2026id_/https://shop.example/never")[0] == 404


def test_pywb_serves_a_job(home: Home, peers: Path, tmp_path: Path) -> None:
    """In a folder where nothing was prepared; files that a job got later are served after another time."""
    root, folder = tmp_path / "pywb", tmp_path / "job"
    root.mkdir()
    (folder / "warcs").mkdir(parents=True)
    for name, url, number in (("one", URL, 1), ("two", OTHER, 2)):
        data, _ = made(exchange(url, page(number)))
        (folder / "warcs" / f"{name}.warc.gz").write_bytes(data)
        if number == 1:
            assert home.vitrine("db", "upgrade").returncode == 0
            assert home.vitrine("sources", "seed").returncode == 0
            done = home.vitrine("jobs", "register", "--source", "hc", "--output-dir", str(folder))
            assert done.returncode == 0, done.stderr
        made_there = home.vitrine("warcs", "cdxj", "--job", "1", "--pywb", str(root / "collections" / "shop"))
        assert made_there.returncode == 0, made_there.stderr
    with own_pywb(peers, root) as pywb:
        wait_for(pywb.answers)
        for url, number in ((URL, 1), (OTHER, 2)):
            assert pywb.get(f"shop/2026id_/{url}") == (200, page(number))


def test_pywb_does_not_find_what_was_erased(home: Home, peers: Path, tmp_path: Path) -> None:
    """Nor does anything move: the same index still finds the others."""
    data, _ = made(*(exchange(f"https://shop.example/{n}", page(n)) for n in range(4)))
    file = tmp_path / "made.warc.gz"
    file.write_bytes(data)
    root = tmp_path / "pywb"
    root.mkdir()
    run(peers, "wb-manager", "init", "shop", folder=root)
    collection = ("--pywb", str(root / "collections" / "shop"))
    assert home.vitrine("warcs", "cdxj", str(file), *collection).returncode == 0
    assert home.vitrine("db", "upgrade").returncode == 0
    done = home.vitrine("warcs", "erase", str(file), "--url", "https://shop.example/1", "--yes")
    assert done.returncode == 0, done.stderr
    run(peers, "warcio", "check", file)
    with own_pywb(peers, root) as pywb:
        wait_for(pywb.answers)
        for number in (0, 2, 3):
            assert pywb.get(f"shop/2026id_/https://shop.example/{number}") == (200, page(number))
        status, content = pywb.get("shop/2026id_/https://shop.example/1")  # by an index that names it still
        assert status >= 400
        assert page(1)[:40] not in content
        assert home.vitrine("warcs", "cdxj", str(file), *collection).returncode == 0
        assert pywb.get("shop/2026id_/https://shop.example/1")[0] == 404


def answers(file: Path) -> list[Entry]:
    """Those that pywb gives as they were."""
    found = entries(file.read_bytes())
    return [
        each for each in found if each.head.kind == "response" and each.message and each.message.status == 200
    ]


def stamp(each: Entry) -> str:
    """A record's time, to the second."""
    return "".join(filter(str.isdigit, (each.head.get("warc-date") or "").partition(".")[0]))
