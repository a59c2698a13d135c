"""What commands of Scrapy share here: options for arguments, and a log as it is asked for."""

from __future__ import annotations

import pytest

from crawler.commands.checked import as_options


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
