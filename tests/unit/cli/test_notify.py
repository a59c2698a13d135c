"""`vitrine notify`: a program and a URL are told, no private address is, and what nobody took comes again."""

from __future__ import annotations

import json
import sys
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from crawler.cli import notify as notifying
from crawler.db.engine import Database
from crawler.leases.backoff import Backoff
from tests.unit.views.rows import a_job

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.cli.conftest import Vitrine


@pytest.fixture
def failed_job(vitrine: Vitrine, tmp_path: Path) -> None:
    """Something to tell of."""
    vitrine("db", "upgrade")
    database = Database(f"sqlite:///{tmp_path}/var/vitrine.db")
    with database.write() as db:
        db.add(a_job(status="failed", name="acme-1", updated_at=db.now - timedelta(hours=1)))
    database.close()


class Hook(HTTPServer):
    """Takes what is sent, and answers as it is told to."""

    answers: list[int]
    taken: list[bytes]


class _Handler(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        """Take it."""
        self.server.taken.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(self.server.answers.pop(0))
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A server that is told."""
    server = Hook(("127.0.0.1", 0), _Handler)
    server.answers, server.taken = [], []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits between attempts."""
    monkeypatch.setattr(notifying, "BACKOFF", Backoff(base=0.0))


@pytest.mark.usefixtures("failed_job")
def test_a_program_is_told_once(vitrine: Vitrine, tmp_path: Path) -> None:
    """On its standard input, and no shell reads what stands in its words."""
    store = tmp_path / "told.json"
    program = f"{sys.executable} -c \"import sys; open(sys.argv[1], 'a').write(sys.stdin.read())\" {store}"
    first = vitrine("notify", NOTIFY_COMMAND=program)
    assert (first.code, first.out) == (0, "job_failed: acme-1 could not be archived: `vitrine jobs show 1`\n")
    assert json.loads(store.read_text())["notices"][0]["details"]["job"] == 1
    again = vitrine("notify", NOTIFY_COMMAND=program)
    assert (again.code, again.out) == (0, "")
    assert len(store.read_text().splitlines()) == 1


@pytest.mark.usefixtures("failed_job", "quick")
def test_what_nobody_took_comes_again(vitrine: Vitrine, hook: Hook) -> None:
    """A few attempts, then one line and exit code 1; a redirect is not followed, and is no yes."""
    url = f"http://127.0.0.1:{hook.server_port}/hook?channel=shop"
    hook.answers = [500, 503, 302]
    refused = vitrine("notify", NOTIFY_URL=url, EGRESS_ALLOW="127.0.0.1")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("error[not_told]: nobody took the notices: 127.0.0.1 answered 302\n")
    hook.answers = [500, 204]
    assert vitrine("notify", NOTIFY_URL=url, EGRESS_ALLOW="127.0.0.1").code == 0
    assert len(hook.taken) == 5
    assert len(set(hook.taken)) == 2  # which differ by their time alone
    assert json.loads(hook.taken[-1])["notices"] == json.loads(hook.taken[0])["notices"]


@pytest.mark.usefixtures("failed_job", "quick")
def test_no_private_address_is_told(vitrine: Vitrine, hook: Hook) -> None:
    """Unless it is allowed by name."""
    done = vitrine("notify", NOTIFY_URL=f"http://127.0.0.1:{hook.server_port}/")
    assert (done.code, hook.taken) == (1, [])
    assert "NOTIFY_URL leads to 127.0.0.1, which is refused: 127.0.0.1 is loopback\n" in done.err
    assert "EGRESS_ALLOW=127.0.0.1" in done.err


@pytest.mark.usefixtures("failed_job", "quick")
def test_a_program_that_fails(vitrine: Vitrine) -> None:
    """One line; nothing counts as told. A dry run needs nobody."""
    assert vitrine("notify", NOTIFY_COMMAND="false").code == 1
    assert "no-such-program" in vitrine("notify", NOTIFY_COMMAND="no-such-program").err
    assert len(vitrine("notify", "--dry-run", "--json").document["notices"]) == 1
