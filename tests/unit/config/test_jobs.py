"""The archive tool's command line can be taken apart, or is refused."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError


@pytest.mark.parametrize("name", ["TOOL_CMD", "NOTIFY_COMMAND"])
@pytest.mark.parametrize("said", ["tool 'an argument", 'tool "x', "tool \\"])
def test_a_quote_is_closed(name: str, said: str) -> None:
    """Else a worker would find it out with its first job."""
    with pytest.raises(ConfigError, match=name):
        load_settings({name: said})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("JOB_DISK_LIMIT_PERCENT", ("0", "101", "85.5")),
        ("INDEX_MAX_BAD_PERCENT", ("-1", "101")),
        ("MAX_CRAWL_RETRIES", ("-1",)),
    ],
)
def test_parts_of_a_hundred(name: str, values: tuple[str, ...]) -> None:
    """Whole ones; a job of which all may be bad is one, a disk that may never be used is none."""
    assert load_settings({"INDEX_MAX_BAD_PERCENT": "0"}).index_max_bad_percent == 0
    for value in values:
        with pytest.raises(ConfigError, match=name):
            load_settings({name: value})
