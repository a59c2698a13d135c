"""A run goes on in the form that it was begun in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError
from crawler.runs.keeping import KEY, as_begun, keeping_of, require_recording

HOME = str(Path.cwd() / "home")


def settings(**given: Any) -> Any:
    """Of a crawl."""
    return load_settings({"VITRINE_HOME": HOME, **given})


FILES: dict[str, Any] = {}
RECORDED = {"WARC_DIR": "/w", "PAGE_STORE": "files"}
WARC = {"WARC_DIR": "/w"}
OWN_FOLDER = {"PAGE_STORE": "warc"}
LINKS = {"PAGE_STORE": "warc", "JUDGE_PAGES": 0}


@pytest.mark.parametrize(
    ("begun", "now", "said", "is_refused"),
    [
        (FILES, FILES, {}, False),
        (WARC, {"WARC_DIR": "/other"}, {}, False),
        (WARC, FILES, {"WARC_DIR": "/w"}, True),
        (WARC, RECORDED, {"PAGE_STORE": "warc"}, True),
        (OWN_FOLDER, FILES, {"WARC_DIR": f"{HOME}/warcs"}, True),
        (RECORDED, FILES, RECORDED, True),
        (RECORDED, WARC, {"PAGE_STORE": "files"}, False),
        (FILES, WARC, {"PAGE_STORE": "files"}, False),
        (LINKS, OWN_FOLDER, {"JUDGE_PAGES": "0"}, False),
        (FILES, {"JUDGE_PAGES": 0}, {"JUDGE_PAGES": "1"}, False),
    ],
)
def test_what_is_to_be_said(
    begun: dict[str, Any], now: dict[str, Any], said: dict[str, str], *, is_refused: bool
) -> None:
    """So that it goes on as it was begun; going on with less than was recorded is refused, with the line."""
    plan = {KEY: keeping_of(settings(**begun))}
    assert as_begun(plan, settings(**now)) == said
    assert as_begun(plan, settings(**{**now, **said})) == {}
    if not is_refused:
        require_recording(7, plan, settings(**now))
        return
    with pytest.raises(ConfigError, match="run 7 is kept in WARC files") as refused:
        require_recording(7, plan, settings(**now))
    assert all(f"-s {name}={value}" in str(refused.value.hint) for name, value in said.items())
    assert "vitrine runs resume 7" in str(refused.value.hint)


@pytest.mark.parametrize("plan", [{}, {KEY: None}, {KEY: "warc"}])
def test_an_older_run_says_nothing(plan: dict[str, Any]) -> None:
    """It goes on as the settings say."""
    assert as_begun(plan, settings(**WARC)) == {}
    require_recording(7, plan, settings())
