"""A run that keeps pictures beside its pages."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from crawler.archive.asked import asked
from crawler.archive.replay import Replay
from crawler.db.models import Artifact, Asset, Page, Record, Task
from crawler.evidence.folder_store import FolderStore
from tests.e2e.farm import NETWORK, farm

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Home

PICTURE = "not really a picture, but nobody looks"
DIGEST = hashlib.sha256(PICTURE.encode()).hexdigest()


def special(path: str) -> tuple[int, str, str] | None:
    """A page with two pictures that are the same, and one that is not there."""
    if path in {"/a.png", "/b.png"}:
        return 200, "Content-Type: image/png\r\n", PICTURE
    if path == "/gone.png":
        return 404, "", ""
    if path == "/":
        return 200, "", '<title>Home</title><img src="/a.png"><img src="/b.png"><img src="/gone.png">'
    return None


@pytest.mark.soak
def test_pictures_are_kept_by_their_digest(home: Home, tmp_path: Path) -> None:
    """decisions.md F144: `media/{sha256}.{ext}`; the same bytes lie there once, and each URL has its row."""
    with farm(hosts=1, pages=1, special=special) as sites:
        sources = tmp_path / "sources.toml"
        sources.write_text(
            f"[sources.farm]\nstart_urls = {json.dumps(sites.starts)}\nplugins = ['page', 'media']\n"
        )
        home.extra.update(EGRESS_ALLOW=NETWORK, SOURCES_FILE=str(sources))
        done = home.vitrine("crawl", "site", "--source", "farm", "--json", "-s", "DOWNLOAD_DELAY=0")
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["tasks"] == {"pending": 0, "in_progress": 0, "finished": 3, "error": 1}
    database = home.database()
    with database.read() as db:
        uris = list(db.scalars(select(Artifact.storage_uri).where(Artifact.type == "media")))
        kinds = list(db.scalars(select(Page.page_type).join(Task, Task.page_id == Page.id)))
        records = list(db.scalars(select(Record.url).where(Record.mime_type == "image/png")))
        assets = list(db.scalars(select(Asset.url).where(Asset.kind == "media").order_by(Asset.url)))
    shown = Replay(database, FolderStore(home.artifacts)).content(asked(f"2126im_/{sites.starts[0]}b.png"))
    assert (b"".join(shown.body).decode(), shown.status) == (PICTURE, 200)
    database.close()
    assert sorted(url.rpartition("/")[2] for url in records) == ["a.png", "b.png"]
    assert len(uris) == 2
    assert len(set(uris)) == 1, uris
    uri = uris[0]
    assert uri.endswith(f"/media/{DIGEST}.png")
    assert (home.artifacts / uri).read_text() == PICTURE
    assert sorted(kinds) == ["media", "media", "page"]
    assert [url.rpartition("/")[2] for url in assets] == ["a.png", "b.png"]


def dressed(path: str) -> tuple[int, str, str] | None:
    """A page with a stylesheet, which names another, a picture and a font."""
    styles = {
        "/main.css": '@import "more.css"; body { background: url(/bg.png) }',
        "/more.css": "@font-face { src: url(fonts/a.woff2) }",
    }
    if path in styles:
        return 200, "Content-Type: text/css; charset=utf-8\r\n", styles[path]
    if path in {"/bg.png", "/icon.png", "/fonts/a.woff2"}:
        return 200, "Content-Type: application/octet-stream\r\n", PICTURE
    if path == "/":
        links = '<link rel="stylesheet" href="/main.css"><link rel=icon href="/icon.png">'
        return 200, "", f"<html><head><title>Home</title>{links}</head><body><p>Hello</p></body></html>"
    return None


@pytest.mark.soak
def test_requisites_come_with_their_page(home: Home, tmp_path: Path) -> None:
    """A page that is shown again looks as it did: what its stylesheets name is fetched along."""
    with farm(hosts=1, pages=1, special=dressed) as sites:
        sources = tmp_path / "sources.toml"
        sources.write_text(f"[sources.farm]\nstart_urls = {json.dumps(sites.starts)}\nrequisites = true\n")
        home.extra.update(EGRESS_ALLOW=NETWORK, SOURCES_FILE=str(sources))
        done = home.vitrine("crawl", "site", "--source", "farm", "--json", "-s", "DOWNLOAD_DELAY=0")
    assert done.stdout, done.stderr
    database = home.database()
    with database.read() as db:
        ended = dict(db.execute(select(Task.url, Task.status)).all())
    database.close()
    paths = {"/" + url.split("/", 3)[3]: status for url, status in ended.items()}
    asked = ("/", "/main.css", "/icon.png", "/more.css", "/bg.png", "/fonts/a.woff2")
    assert paths == dict.fromkeys(asked, "finished"), done.stderr
