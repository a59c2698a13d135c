"""Saved pages: which files are judged, that they answer instead of the site, and what a contract accepts."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import ContractFail

from crawler.capture.items import PageVerdict
from crawler.config import load_settings
from crawler.contracts.saved_page import SavedPage
from crawler.errors import UsageError
from crawler.middlewares.saved_pages import SavedPageMiddleware, saved_page_meta
from crawler.spiders.saved_pages import SavedPagesSpider
from tests.unit.components import a_request, awaited

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://shop.example/p"
PAGE = b"<html><title>Jug</title></html>"


async def all_of(outputs: Any) -> list[Any]:
    """What is yielded."""
    return [each async for each in outputs]


def test_each_file_is_asked_for_once(tmp_path: Path) -> None:
    """In the order of the names, at one address; no duplicate filter drops the second."""
    for name in ("b.html", "a.html", "c.txt"):
        (tmp_path / name).write_bytes(b"<p>")
    given = {"files": f"{tmp_path}/*.html", "url": URL}
    requests = awaited(
        all_of(SavedPagesSpider(**SavedPagesSpider.prepared(load_settings({}), given)).start())
    )
    assert [each.cb_kwargs["file"] for each in requests] == [f"{tmp_path}/{name}.html" for name in "ab"]
    assert {(each.url, each.dont_filter) for each in requests} == {(URL, True)}


@pytest.mark.parametrize("pattern", ["", "{folder}/none*.html", "{folder}/[", "\0"])
def test_a_pattern_that_matches_nothing_is_refused(tmp_path: Path, pattern: str) -> None:
    """Before anything starts."""
    given = {"files": pattern.replace("{folder}", str(tmp_path))}
    with pytest.raises((UsageError, ValueError)):
        SavedPagesSpider.prepared(load_settings({}), given)


@pytest.mark.parametrize(
    ("name", "data"), [("page.html", PAGE), ("page.html.gz", gzip.compress(PAGE, mtime=0))]
)
def test_a_file_answers_instead_of_the_site(tmp_path: Path, name: str, data: bytes) -> None:
    """Packed or not, as the page of the request's URL; other requests go on to the site."""
    (tmp_path / name).write_bytes(data)
    answer = awaited(
        SavedPageMiddleware().process_request(a_request(URL, meta=saved_page_meta(tmp_path / name)))
    )
    assert answer is not None
    assert (answer.url, answer.body, answer.status) == (URL, PAGE, 200)
    assert awaited(SavedPageMiddleware().process_request(a_request())) is None


def test_a_file_that_is_not_there_fails_its_request(tmp_path: Path) -> None:
    """And is not looked for on the network."""
    with pytest.raises(FileNotFoundError):
        awaited(SavedPageMiddleware().process_request(a_request(meta=saved_page_meta(tmp_path / "none"))))


def verdict(*, is_pdp: bool) -> PageVerdict:
    """A verdict by v1.2."""
    return PageVerdict(URL, "v1.2", is_pdp, {"has_price": True}, [], {}, [])


@pytest.mark.parametrize(
    ("output", "is_accepted"),
    [
        ([verdict(is_pdp=True)], True),
        ([], False),
        ([verdict(is_pdp=False)], False),
        ([verdict(is_pdp=True), verdict(is_pdp=True)], False),
    ],
    ids=["expected", "none", "another", "several"],
)
def test_a_contract_accepts_the_verdict_that_was_written_down(
    tmp_path: Path, output: list[PageVerdict], *, is_accepted: bool
) -> None:
    """And nothing else; its request carries the page's own URL, and is answered from the folder."""
    expected = {"url": URL, "verdicts": {"v1.2": {"is_pdp": True, "reasons": []}}}
    (tmp_path / "expected.json").write_text(json.dumps(expected))
    contract = SavedPage(SavedPagesSpider().parse, str(tmp_path))
    asked = contract.adjust_request_args({"url": "", "meta": None})
    assert (asked["url"], asked["meta"]) == (URL, {"saved_page": str(tmp_path / "page.html")})
    if is_accepted:
        contract.post_process(output)
    else:
        with pytest.raises(ContractFail):
            contract.post_process(output)
