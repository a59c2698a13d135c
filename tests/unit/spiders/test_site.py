"""What the site spider may be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.errors import CrawlerError, UsageError
from crawler.runs.store import RunOrder
from crawler.spiders.site import run_order

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://shop.example/"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A file with one source."""
    path = tmp_path / "sources.toml"
    path.write_text(f'[sources.shop]\nstart_urls = ["{URL}"]\ndepth = 4\nmax_pages = 50\n', encoding="utf-8")
    return path


def order(sources: Path, **given: str) -> RunOrder:
    """The run that is asked for."""
    return run_order(given, sources)


def test_a_url_is_a_source_of_its_own(sources: Path) -> None:
    """Its domain; without limits, unless they are given."""
    source = order(sources, start_url=URL).source
    assert source
    assert (source.code, source.start_urls, source.depth, source.max_pages) == (
        "shop.example",
        (URL,),
        None,
        None,
    )
    source = order(sources, start_url=URL, depth="0", max_pages="7").source
    assert source
    assert (source.depth, source.max_pages) == (0, 7)


def test_a_source_is_found_by_its_code(sources: Path) -> None:
    """Its limits may be given anew."""
    source = order(sources, source="shop").source
    assert source
    assert (source.depth, source.max_pages) == (4, 50)
    source = order(sources, source="shop", max_pages=" 9 ", depth="").source
    assert source
    assert (source.depth, source.max_pages) == (4, 9)


@pytest.mark.parametrize(
    ("word", "meant"), [("1", True), ("YES", True), ("on", True), ("0", False), ("", False)]
)
def test_resume_is_a_flag(sources: Path, word: str, *, meant: bool) -> None:
    """As every flag is given."""
    assert order(sources, source="shop", resume=word).resume is meant


def test_a_run_is_gone_on_with_by_its_number(sources: Path) -> None:
    """As it is: a source of its own would contradict it."""
    assert order(sources, run_id="12") == RunOrder(run_id=12)
    with pytest.raises(UsageError, match="goes on with a run as it is"):
        order(sources, run_id="12", source="shop")


def test_what_scrapyd_adds_does_not_matter(sources: Path) -> None:
    """Its arguments begin with an underscore."""
    assert order(sources, start_url=URL, _job="0af").source


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, "there is nothing to crawl"),
        ({"resume": "1"}, "there is nothing to crawl"),
        ({"start_url": URL, "source": "shop"}, "exclude each other"),
        ({"start_url": URL, "deep": "3"}, "-a deep=… is unknown"),
        ({"start_url": URL, "resume": "maybe"}, "resume=maybe"),
        ({"start_url": URL, "max_pages": "0"}, "max_pages=0 is no whole number from 1"),
        ({"start_url": URL, "max_pages": "²"}, "max_pages=²"),
        ({"start_url": URL, "depth": "-1"}, "depth=-1 is no whole number from 0"),
        ({"run_id": "1.5"}, "run_id=1.5"),
        ({"start_url": "ftp://shop.example/"}, "ftp"),
        ({"source": "nowhere"}, "has no source 'nowhere'"),
    ],
)
def test_what_is_wrong_is_told(sources: Path, given: dict[str, str], error: str) -> None:
    """Before anything starts."""
    with pytest.raises(CrawlerError, match=error) as refused:
        order(sources, **given)
    assert refused.value.exit_code == 2
