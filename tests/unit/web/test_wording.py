"""How values read on a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from crawler.web import wording
from crawler.web.wording import NOTHING

MOMENT = datetime(2026, 5, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
HOSTILE = "<script>`x`</script>"


@pytest.mark.parametrize(("count", "text"), [
    (0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 KB"), (1_500_000, "1.5 MB"), (2e9, "2.0 GB"),
    (999_949, "999.9 KB"), (999_950, "1.0 MB"), (999_999_999, "1.0 GB"), (999.6, "1.0 KB"),
    (5e15, "5000.0 TB"), (None, NOTHING),
])  # fmt: skip
def test_sizes(count: float | None, text: str) -> None:
    """In the largest unit of which there is one, also where only rounding makes it one."""
    assert wording.size(count) == text


@pytest.mark.parametrize(("seconds", "text"), [
    (0, "0 s"), (0.9, "0 s"), (59, "59 s"), (60, "1 min"), (3_661, "1 h 1 min"), (86_400, "1 d"),
    (90_061, "1 d 1 h"), (-0.5, "0 s"), (-5, "0 s"), (None, NOTHING),
])  # fmt: skip
def test_lengths_of_time(seconds: float | None, text: str) -> None:
    """The two largest units; where two clocks differ, nothing lasts less than nothing."""
    assert wording.lasting(seconds) == text


def test_moments_are_told_in_utc() -> None:
    """For people and for scripts; a text is taken as it is, but never for markup."""
    assert wording.when(MOMENT) == '<time datetime="2026-04-30T23:30:00+00:00">2026-04-30 23:30 UTC</time>'
    assert wording.when(None) == wording.when("") == NOTHING
    assert HOSTILE not in wording.when(HOSTILE)


def test_what_stands_between_backticks_is_to_be_typed() -> None:
    """And is text, as is the rest; one that is left over marks nothing that is not there."""
    assert wording.coded("run `vitrine` now") == "run <code>vitrine</code> now"
    assert not wording.coded("")
    said = wording.coded(HOSTILE + "`<b>")
    assert "<script>" not in said
    assert "<b>" not in said
    assert said.count("<code>") == said.count("</code>") == 2


@pytest.mark.parametrize(("status", "tone"), [
    ("completed", "good"), ("running", "busy"), ("partial", "warn"), ("failed", "bad"),
    ("removed_by_purge", "bad"), ("file_missing", "bad"), ("purged", "bad"), ("queued", ""), ("", ""),
    (HOSTILE, ""),
])  # fmt: skip
def test_states_have_a_look(status: str, tone: str) -> None:
    """A sign for each, and one for what nobody knows."""
    found = wording.look_of(status)
    assert (found.tone, len(found.sign)) == (tone, 1)
    assert "_" not in wording.said(status)


def test_an_address_of_a_capture_is_one_path() -> None:
    """What would end it early, or leave it, is spelt out."""
    url = 'https://shop.example/a b?q="1"&r=ü#end'
    assert wording.replay_url(MOMENT, url) == (
        "/web/20260430233000/https://shop.example/a%20b?q=%221%22&r=%C3%BC%23end"
    )
    assert wording.calendar_url("https://x/\n<>") == "/web/*/https://x/%0A%3C%3E"
    assert wording.replay_url(MOMENT.astimezone(UTC), url) == wording.replay_url(MOMENT, url)


def test_numbers() -> None:
    """With their thousands apart; what is not known is not nothing."""
    assert (wording.number(1234567), wording.number(0), wording.number(None)) == ("1,234,567", "0", NOTHING)
