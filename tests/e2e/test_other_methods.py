"""Answers to other requests than GET, and those that say that nothing has changed."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import select

from crawler.db.models import Snapshot
from tests.e2e.demo_days import archived
from tests.unit.archive.captured import day, record
from tests.unit.warc.made import exchange
from tests.unit.warc.made import made as written
from tests.unit.web.conftest import serving_on

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from crawler.warc.messages import Exchange
    from tests.e2e.conftest import Home
    from tests.unit.web.conftest import Served

URL = "https://shop.example/p"
HTML = (b"Content-Type", b"text/html")
PAGE = b"<html><title>Jug</title><h1>A jug</h1><p>Earthenware, glazed twice.</p></html>"
FORM = ((b"Content-Type", b"application/x-www-form-urlencoded"),)


def made(number: int, body: bytes = b"", **more: Any) -> Exchange:
    """An answer of a day."""
    return exchange(URL, body, captured_at=day(number), **{"headers": (HTML,), **more})


def same(number: int, *headers: tuple[bytes, bytes], asked: tuple[tuple[bytes, bytes], ...] = ()) -> Exchange:
    """An answer of a day that says that nothing has changed."""
    return made(number, status=304, headers=headers, request_headers=asked)


def captured() -> Iterator[Exchange]:
    """A page, and what else was answered under its address afterwards."""
    yield made(
        1, PAGE, headers=(HTML, (b"ETag", b'W/"one"'), (b"Last-Modified", b"Mon, 4 May 2026 10:00:00 GMT"))
    )
    yield made(2, method=b"HEAD")
    yield made(3, method=b"OPTIONS", status=204)
    yield made(
        4,
        b"<html><title>Sent</title><p>thanks",
        method=b"POST",
        request_headers=FORM,
        request_body=b"b=2&a=1",
    )
    yield same(5, (b"ETag", b'"one"'))
    yield same(6, (b"Last-Modified", b"Mon, 4 May 2026 10:00:00 GMT"))
    yield same(7, asked=((b"If-None-Match", b'"one"'),))
    yield same(8, (b"ETag", b'"never seen"'))


@pytest.fixture(params=["indexed by a job", "recorded by us"])
def served(request: pytest.FixtureRequest, sqlite_database: str, tmp_path: Path) -> Generator[Served]:
    """A server on an archive of all that."""
    with serving_on(sqlite_database, tmp_path / "home") as serve:
        served = serve()
        if request.param == "recorded by us":
            record(served.database, tmp_path / "warcs", *captured())
        else:
            archived(served.database, served.stores.settings, tmp_path / "job", captured())
        yield served


@pytest.mark.parametrize("asked", ["20260503120000", "20260504120000", "20260505120000", "20260507", "2027"])
def test_a_page_is_shown_by_what_was_answered_to_get(served: Served, asked: str) -> None:
    """Neither an empty answer nor one to a form stands for it, whatever time is asked for."""
    answer = served.get(f"/web/{asked}mp_/{URL}")
    assert (answer.status_code, "A jug" in answer.text) == (200, True)


def test_an_unchanged_page_was_captured_again(served: Served) -> None:
    """As often as that was said of something that is there; its time is the one of the answer."""
    assert (
        served.get(f"/web/20260505mp_/{URL}").headers["memento-datetime"] == "Tue, 05 May 2026 12:00:00 GMT"
    )
    lines = [json.loads(line) for line in served.get(f"/web/cdx?url={URL}&output=json").text.splitlines()]
    assert [line["timestamp"][6:8] for line in lines] == ["01", "05", "06", "07"]
    assert {line["mime"] for line in lines[1:]} == {"warc/revisit"}


def test_other_methods_are_listed_under_keys_of_their_own(served: Served) -> None:
    """As pywb lists them."""
    text = served.get(f"/web/cdx?url={URL}*&output=json").text
    keys = {json.loads(line)["urlkey"] for line in text.splitlines()}
    assert keys == {
        "example,shop)/p", "example,shop)/p?__wb_method=head", "example,shop)/p?__wb_method=options",
        "example,shop)/p?__wb_method=post&a=1&b=2",
    }  # fmt: skip


def test_the_answer_to_a_form_is_no_page(served: Served) -> None:
    """The search does not find it."""
    assert served.get("/api/search?q=thanks").json()["results"] == []
    with served.database.read() as db:
        assert set(db.scalars(select(Snapshot.status_code))) <= {200}


SENT = (
    ("application/json", b'{"a": {"b": [1, 2.0, true, null]}, "b": "x y"}'),
    ("text/plain", b"a jug"),
    ("application/octet-stream", b"\x00\xff"),
    (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1 2\r\n--x--\r\n',
    ),
)


@pytest.mark.soak
def test_an_index_has_the_keys_of_pywbs(home: Home, peers: Path, tmp_path: Path) -> None:
    """Whatever was sent, and in whichever form."""
    forms = [
        made(9, b"{}", method=method, request_body=body, request_headers=((b"Content-Type", kind.encode()),))
        for kind, body in SENT
        for method in (b"POST", b"PUT")
    ]
    file = tmp_path / "made.warc.gz"
    file.write_bytes(written(*captured(), *forms)[0])
    root = tmp_path / "pywb"
    root.mkdir()
    for arguments in (("init", "shop"), ("add", "shop", str(file))):
        subprocess.run([peers / "wb-manager", *arguments], cwd=root, check=True, capture_output=True)
    theirs = (root / "collections" / "shop" / "indexes" / "index.cdxj").read_text()
    ours = home.vitrine("warcs", "cdxj", str(file)).stdout

    def keys(text: str) -> list[list[str]]:
        return [line.split(" ")[:2] for line in text.splitlines()]

    assert keys(ours) == keys(theirs)
