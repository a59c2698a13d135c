"""Answers from files; everything else goes on to the site."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from crawler.middlewares.saved_pages import SavedPageMiddleware, saved_page_meta
from tests.unit.components import a_request, awaited

if TYPE_CHECKING:
    from pathlib import Path

PAGE = b"<html><title>Jug</title></html>"


@pytest.mark.parametrize(
    ("name", "data"), [("page.html", PAGE), ("page.html.gz", gzip.compress(PAGE, mtime=0))]
)
def test_a_file_answers_instead_of_the_site(tmp_path: Path, name: str, data: bytes) -> None:
    """Packed or not, as the page of the request's URL."""
    (tmp_path / name).write_bytes(data)
    request = a_request("https://shop.example/p", meta=saved_page_meta(tmp_path / name))
    answer = awaited(SavedPageMiddleware().process_request(request))
    assert answer is not None
    assert (answer.url, answer.body, answer.status) == ("https://shop.example/p", PAGE, 200)
    assert answer.request is request


def test_other_requests_go_on() -> None:
    """To the gate and the site."""
    assert awaited(SavedPageMiddleware().process_request(a_request())) is None


def test_a_file_that_is_not_there_fails_its_request(tmp_path: Path) -> None:
    """And is not looked for on the network."""
    with pytest.raises(FileNotFoundError):
        awaited(SavedPageMiddleware().process_request(a_request(meta=saved_page_meta(tmp_path / "none"))))
