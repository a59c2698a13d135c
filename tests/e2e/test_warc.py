"""What was sent is on the disk, in a form that every tool reads; what is secret is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.config import load_settings
from crawler.evidence.files import sha256
from crawler.stores import open_blobs
from tests.programs.s3 import make_bucket, own_s3, settings_for

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


def urls(folder: Path) -> list[tuple[str, str]]:
    """The records of a folder's files, as warcio reads them, each with digests that hold."""
    return [record for path in sorted(folder.iterdir()) for record in records(path)]


def records(path: Path) -> list[tuple[str, str]]:
    """Those of one file."""
    assert path.name.endswith(".warc.gz")
    found = []
    with path.open("rb") as file:
        for each in ArchiveIterator(file, check_digests=True):
            found.append((each.rec_type, each.rec_headers.get_header("WARC-Target-URI") or ""))
            each.raw_stream.read()
            assert each.digest_checker.passed is not False
    return found


def test_a_spider_that_knows_of_nothing(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """`scrapy runspider` with the project's settings: a pair for each answer, robots.txt among them."""
    shops.forget()
    warcs = tmp_path / "warcs"
    done = home.scrapy(
        "runspider", "tests/e2e/foreign_spider.py", "-a", f"url={shops.url('plain')}",
        "-s", "DOWNLOAD_DELAY=0", "-s", f"WARC_DIR={warcs}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = urls(warcs)
    asked = shops.log.entries()
    assert len(asked) == len([kind for kind, _ in found if kind == "response"])
    assert len(found) == 1 + 2 * len(asked)
    assert shops.url("plain", "/robots.txt") in {url for _, url in found}


def test_a_session_keeps_what_was_sent(home: Home, shops: DemoServer) -> None:
    """`-a warc=1`: one artifact beside its files, dated as its HTML, and gone with a purge."""
    shops.forget()
    [session] = home.crawl(shops.url("plain"), "-a", "warc=1")
    [shown] = home.sessions()
    by_type: dict[str, list[dict[str, object]]] = {}
    for artifact in shown["artifacts"]:
        by_type.setdefault(artifact["type"], []).append(artifact)
    [warc], html = by_type["warc"], by_type["html_gz"]
    path = home.artifacts / str(warc["storage_uri"])
    assert path.name == "session.warc.gz"
    assert str(warc["retention_until"])[:10] == str(html[0]["retention_until"])[:10]
    assert warc["checksum"] == sha256(path.read_bytes())
    found = records(path)
    assert len([kind for kind, _ in found if kind == "response"]) == len(shops.log.entries())
    assert list((home.path / "spool").iterdir()) == []
    # tried again, by its id alone, it keeps what was sent this time as well
    shops.forget()
    assert home.vitrine("sessions", "retry", session["id"], "-s", "DOWNLOAD_DELAY=0").returncode == 0
    [shown] = home.sessions()
    warcs = [each for each in shown["artifacts"] if each["type"] == "warc"]
    assert len(warcs) == 2
    [later] = [home.artifacts / each["storage_uri"] for each in warcs if each["id"] != warc["id"]]
    assert len([kind for kind, _ in records(later) if kind == "response"]) == len(shops.log.entries())
    assert home.vitrine("artifacts", "verify").returncode == 0
    assert home.vitrine("purge", "--session", session["id"], "--yes").returncode == 0
    assert not path.exists()


@pytest.mark.soak(minutes=10)
def test_a_session_keeps_what_was_sent_in_a_bucket(home: Home, shops: DemoServer, tmp_path: Path) -> None:
    """The same where evidence lies in an object store: written whole, read again, gone with a purge."""
    with own_s3() as endpoint:
        make_bucket(endpoint, "evidence")
        home.extra.update(settings_for(endpoint, "evidence"))
        shops.forget()
        [session] = home.crawl(shops.url("plain"), "-a", "warc=1")
        [shown] = home.sessions()
        [warc] = [each for each in shown["artifacts"] if each["type"] == "warc"]
        assert home.vitrine("artifacts", "verify").returncode == 0
        blobs = open_blobs(load_settings(settings_for(endpoint, "evidence")))
        copy = tmp_path / "session.warc.gz"
        copy.write_bytes(blobs.read(warc["storage_uri"]))
        assert sha256(copy.read_bytes()) == warc["checksum"]
        found = records(copy)
        assert len([kind for kind, _ in found if kind == "response"]) == len(shops.log.entries())
        assert home.vitrine("purge", "--session", session["id"], "--yes").returncode == 0
        assert not blobs.exists(warc["storage_uri"])
