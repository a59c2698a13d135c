"""What commands of Scrapy share here: options for arguments, and a log as it is asked for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from crawler.commands.checked import _handler, as_options

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("give -a url=https://shop.example/", "give https://shop.example/"),
        ("as in -a max_pages=5 or -a source=shop", "as in --max-pages 5 or --source shop"),
        ("-a unknown=1 stays", "-a unknown=1 stays"), ("nothing", "nothing"), ("-a url=", "-a url="),
    ],
)  # fmt: skip
def test_arguments_are_options_to_who_gave_options(said: str, shown: str) -> None:
    """Of those alone that `vitrine crawl` has."""
    assert as_options(said) == shown


def test_a_log_goes_where_it_is_asked_to(tmp_path: Path) -> None:
    """Into a file, begun anew or gone on with; to the terminal; or nowhere."""
    path = tmp_path / "log"
    path.write_text("before\n", encoding="utf-8")
    for append, kept in ((True, True), (False, False)):
        handler = _handler(Settings({"LOG_FILE": str(path), "LOG_FILE_APPEND": append}))
        handler.emit(logging.LogRecord("x", logging.WARNING, "", 0, "redis://u:geheim@h", (), None))
        handler.close()
        text = path.read_text("utf-8")
        assert (text.startswith("before"), "geheim" in text) == (kept, False)
    assert isinstance(_handler(Settings({"LOG_ENABLED": False})), logging.NullHandler)
    assert isinstance(_handler(Settings({"LOG_LEVEL": "ERROR"})), logging.StreamHandler)
    assert _handler(Settings({"LOG_LEVEL": "ERROR"})).level == logging.ERROR
