"""Secrets in settings, arguments and URLs: used where they are meant to be, and shown nowhere."""

from __future__ import annotations

import gzip
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy.engine import make_url

from tests.e2e.conftest import rows
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home

CANARY = "kanarie"
AT_ONCE = ("-s", "DOWNLOAD_DELAY=0")
QUERY = (
    f"token={CANARY}1&x=2&X-Sig-Signature={CANARY}3&api_key={CANARY}4&session={CANARY}5&password={CANARY}6"
)
SHOWN = (
    ("sessions", "list"), ("sessions", "list", "--json"), ("products", "list", "--json"),
    ("runs", "show", "1"),
    ("runs", "report", "1", "--json"), ("assets", "list", "--json"), ("exceptions", "list", "--json"),
    ("export", "sessions"), ("export", "listings", "--format", "jsonl"), ("doctor", "--json"),
)  # fmt: skip


def test_no_secret_of_a_url_is_shown(
    home: Home, shops: DemoServer, postgres_database: str, tmp_path: Path
) -> None:
    """Nor the database's password: in no output, log, export or feed; the site and the row get the URL."""
    database = make_url(postgres_database).set(password="ge@heim").render_as_string(hide_password=False)
    home.extra["DATABASE_URL"] = database.replace("%40", "@").replace("ge@heim", f"{CANARY}7@{CANARY}8")
    shops.forget()
    url, feed = shops.url("plain", f"/?{QUERY}"), tmp_path / "feed.jsonl"
    home.extra.update(LOG_FORMAT="json", LOG_LEVEL="DEBUG")
    both = (f"https://u:{CANARY}9@shop.example/", "--verbose", "-s", f"PAGES_FEED={feed}", *AT_ONCE)
    crawls = [
        home.vitrine("crawl", "pdp", url, *both),
        home.vitrine("crawl", "site", url, "--max-pages", "2", "--verbose", "--json", *AT_ONCE),
    ]
    assert [done.returncode for done in crawls] == [3, 0], [done.stderr for done in crawls]
    session = next(row for row in rows(home) if row.url == url)
    said = [
        *crawls,
        *starmap(home.vitrine, SHOWN),
        home.vitrine("sessions", "show", str(session.id)),
    ]
    assert any(QUERY in entry.path for entry in shops.log.entries("plain"))
    shown = {" ".join(done.args): done.stdout + done.stderr for done in said}
    reports = [*tmp_path.rglob("run-*"), feed]
    assert len(reports) == 3
    shown.update({str(path): path.read_text(encoding="utf-8") for path in reports})
    logs = [path for path in home.artifacts.rglob("*session_logs*") if path.is_file()]
    assert logs
    shown.update({str(path): path.read_text(encoding="utf-8") for path in logs})
    assert [name for name, text in shown.items() if CANARY in text.replace(name, "")] == []


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("AWS_ENDPOINT_URL", "http://user:{}@store.example"),
        ("ARTIFACTS_DIR", "s3://user:{}@bucket/prefix"),
        ("CONTACT_URL", "https://user:{}@owner.example/"),
        ("EGRESS_ALLOW", "10.0.0.0/8,user:{}@inner.example"),
        ("PROXY_URL", "http:user:{}@proxy.example"),
        ("DATABASE_URL", "host=db.example password='{} x'"),
        ("REDIS_URL", "redis://:{}@127.0.0.1:1/0?no_such_option=1"),
    ],
)
def test_a_setting_with_a_password_out_of_place_is_one_line(home: Home, setting: str, value: str) -> None:
    """Exit 2 and what the setting takes, without the password."""
    home.extra[setting] = value.format(CANARY)
    done = home.vitrine("doctor")
    assert done.returncode == 2
    assert f"error[config]: {setting} is " in done.stderr
    assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("REDIS_URL", "redis://user:{}@127.0.0.1:1/0", "127.0.0.1:1"),
        ("DATABASE_URL", "postgresql://user:{0}@{0}@127.0.0.1:1/v?password={0}", "127.0.0.1"),
        ("PROXY_URL", "http://user:{}@127.0.0.1:1", ""),
    ],
)
def test_a_password_in_place_is_not_shown(home: Home, setting: str, value: str, told: str) -> None:
    """Not when its server is away either."""
    home.extra[setting] = value.format(CANARY)
    for done in (home.vitrine("doctor"), home.vitrine("doctor", "--json")):
        assert CANARY not in done.stdout + done.stderr
        assert told in done.stdout + done.stderr


def test_a_saved_pages_url(home: Home, tmp_path: Path) -> None:
    """`pdp check --url` repeats it, without its password."""
    page = tmp_path / "page.html.gz"
    page.write_bytes(gzip.compress(b"<h1>Jug</h1>"))
    for form in ((), ("--json",), ("--jsonl",)):
        done: subprocess.CompletedProcess[str] = home.vitrine(
            "pdp", "check", str(page), "--url", f"https://u:{CANARY}@shop.example/p?sig={CANARY}", *form
        )
        assert done.returncode == 0, done.stderr
        assert CANARY not in done.stdout + done.stderr


@pytest.mark.soak
def test_settings_of_a_command_line_stand_in_no_childs_arguments(home: Home, shops: DemoServer) -> None:
    """Every user of the machine can list the arguments of processes; the settings hold all the same."""
    shops.forget()
    url, delay = shops.url("plain"), ("-s", "DOWNLOAD_DELAY=1")
    crawl = home.start_vitrine("crawl", "pdp", url, "-s", f"ADMIN_TOKEN={CANARY}", *delay, "--verbose")
    try:
        children = wait_for(lambda: shops.log.entries("plain") and children_of(crawl.pid))
        shown = [Path(f"/proc/{child}/cmdline").read_bytes() for child in children]
    finally:
        _, log = crawl.communicate(timeout=120)
    assert any(b"crawler.commands" in words for words in shown)
    assert [words for words in shown if CANARY.encode() in words or b"DOWNLOAD_DELAY" in words] == []
    assert "'DOWNLOAD_DELAY': '1'" in log
    assert CANARY not in log


def children_of(pid: int) -> list[int]:
    """All processes below one."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [each for child in map(int, children) for each in (child, *children_of(child))]
