"""Holds and purges from the command line, over what a crawl has stored."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import update

from crawler.clock import utc_now
from crawler.db.models import Artifact, Diagnostic
from tests.unit.retention.contents import naming
from tests.unit.retention.everything import files_naming

if TYPE_CHECKING:
    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home


def read(home: Home, *arguments: str) -> Any:
    """The JSON that a command prints."""
    done = home.vitrine(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.soak(minutes=10)
def test_a_hold_keeps_what_a_cleanup_and_a_purge_would_take(home: Home, shops: DemoServer) -> None:
    """Until it is lifted; then both go their way."""
    domain = shops.domain("plain")
    [session] = home.crawl(shops.url("plain"))
    held = read(
        home, "retention", "hold", "--session", session["id"][:8], "--who", "legal", "--why", "case 17"
    )
    assert (held["artifacts"], held["too_late"]) == (len(session["artifacts"]), 0)
    assert [each["why"] for each in read(home, "retention", "holds")["holds"]] == ["case 17"]
    _let_expire(home)
    assert read(home, "cleanup")["deleted"] == 0
    done = home.vitrine("purge", "--domain", domain, "--yes")
    assert done.returncode == 5
    assert done.stderr.splitlines()[-2].startswith("error[held]: ")
    files = home.files()
    assert read(home, "retention", "unhold", "--session", session["id"])["artifacts"] == held["artifacts"]
    cleaned = read(home, "cleanup")
    assert cleaned["deleted"] == 2
    assert next(e for e in cleaned["collections"] if e["collection"] == "diagnostics")["deleted_docs"] == 2
    assert len(home.files()) == len(files) - 2
    _purge(home, domain)


def test_after_a_purge_nothing_names_the_domain(home: Home, shops: DemoServer) -> None:
    """No column of any table, no file, no report and no byte of the database, in free pages or beside it."""
    gone, kept = "plain", "german"
    urls = home.path.parent / "urls.txt"
    urls.write_text(f"{shops.url(gone)}\n{shops.url(kept)}\n", encoding="utf-8")
    assert home.vitrine("hauls", "create", "both", "--urls", str(urls)).returncode == 0
    start = ("-a", f"start_url={shops.url(gone)}", "-a", "max_pages=3", "-s", "DOWNLOAD_DELAY=0")
    site = home.scrapy("crawl", "site", *start)
    assert site.returncode == 0, site.stderr
    assert home.vitrine("snapshots", "index").returncode == 0
    domain, other = shops.domain(gone), shops.domain(kept)
    before = _traces(home, other)
    assert _traces(home, domain)["reports"] == 2
    with closing(sqlite3.connect(home.path / "vitrine.db")) as connected:
        connected.execute("SELECT count(*) FROM sessions").fetchall()
        read(home, "purge", "--domain", domain, "--prices", "--yes")
        stored = [(home.path / f"vitrine.db{ending}").read_bytes() for ending in ("", "-wal")]
    host = re.escape(domain.partition(":")[0].encode())
    names = [found for data in stored for found in re.findall(rb".{30}" + host + rb"\D", data)]
    assert [name for name in names if b"purgedomain" not in name] == []
    assert len(names) == 1  # what the audit log says was purged
    assert _traces(home, domain) == {"audit_log": 1}
    assert _traces(home, other) == before
    assert domain not in home.vitrine("runs", "list").stdout


def _traces(home: Home, domain: str) -> dict[str, int]:
    """How many rows of each table, and how many files, name a domain."""
    database = home.database()
    found = {name: len(rows) for name, rows in naming(database, domain).items()}
    database.close()
    for folder in ("artifacts", "reports"):
        if files := files_naming(home.path / folder, domain):
            found[folder] = len(files)
    return found


def _purge(home: Home, domain: str) -> None:
    done = home.vitrine("purge", "--domain", domain, "--prices")
    assert done.returncode == 2  # nobody is there to answer
    assert "1 sessions, 2 pages" in done.stderr
    purged = read(home, "purge", "--domain", domain, "--prices", "--yes")
    assert (purged["sessions"], purged["prices"], purged["listings"], purged["failed"]) == (1, 1, 1, 0)
    assert home.files() == set()
    assert home.sessions() == []
    done = home.vitrine("purge", "--domain", domain, "--yes")
    assert done.returncode == 0
    assert f"there is nothing of domain {domain}" in done.stderr


def _let_expire(home: Home) -> None:
    database = home.database()
    past = utc_now() - timedelta(days=1000)
    with database.write() as db:
        db.execute(update(Artifact).where(Artifact.type == "html_gz").values(retention_until=past))
        db.execute(update(Diagnostic).values(timestamp=past))
    database.close()
