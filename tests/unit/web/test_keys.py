"""The token and what stands for it: opened by itself alone, and for a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crawler.web.keys import API_HEADERS, LOGIN_LASTS, Keys

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
KEYS = Keys("the token ü")
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("given", ["", "the token", "the token ü ", "THE TOKEN Ü", "\x00", "x" * 100_000])
def test_nothing_else_opens(given: str) -> None:
    """However near it comes, by whichever way."""
    assert KEYS.opens("the token ü")
    assert not KEYS.opens(given)
    for headers in ({"x-admin-token": given}, {"authorization": f"Bearer {given}"}):
        assert not KEYS.in_headers(headers) or given.strip() == "the token ü"


def test_without_a_token_nothing_opens() -> None:
    """Not even nothing, and no sign that somebody makes for it."""
    none = Keys("")
    assert not none.is_set
    assert not none.opens("")
    assert not none.in_headers({"x-admin-token": "", "authorization": "Bearer "})
    assert not none.is_login(none.login(NOW), NOW)
    assert not none.is_form_token(none.form_token("x"), "x")


def test_headers_are_those_of_its_kind() -> None:
    """A key of the API does not come as an operator's; one wrong header does not outweigh a right one."""
    api = Keys("a-key", API_HEADERS)
    assert api.in_headers({"x-api-key": "a-key"})
    assert not api.in_headers({"x-admin-token": "a-key"})
    assert not api.in_headers({"authorization": "Basic a-key"})
    assert KEYS.in_headers({"x-admin-token": "wrong", "x-admin-key": "the token ü"})


def test_a_login_lasts_a_day() -> None:
    """To the second."""
    sign = KEYS.login(NOW)
    assert KEYS.is_login(sign, NOW + LOGIN_LASTS - SECOND)
    assert not KEYS.is_login(sign, NOW + LOGIN_LASTS)


@pytest.mark.parametrize("forge", [
    lambda until, seal: f"9{until}.{seal}",
    lambda until, seal: f"{until}0.{seal}",
    lambda until, seal: f"{until.partition('-')[0]}.{seal}",
    lambda until, seal: f"{until}.{seal[:-1]}",
    lambda until, seal: f"{until}.{seal}0",
    lambda until, seal: until,
    lambda until, seal: f".{seal}",
    lambda until, seal: f"-{until}.{seal}",
    lambda until, seal: f"{until}.{seal.upper()}",
    lambda until, seal: "",
    lambda until, seal: f"{until}.ü",
])  # fmt: skip
def test_no_sign_can_be_made(forge: object) -> None:
    """A later end, half a seal, none."""
    assert callable(forge)
    assert not KEYS.is_login(forge(*KEYS.login(NOW).split(".")), NOW)


def test_a_sign_is_of_its_token_and_for_its_purpose() -> None:
    """After a change of the token nobody is logged in; a form's token is no login, nor another form's."""
    sign = KEYS.login(NOW)
    until = sign.partition(".")[0]
    assert not Keys("another token").is_login(sign, NOW)
    assert not KEYS.is_login(f"{until}.{KEYS.form_token(until)}", NOW)
    assert KEYS.is_form_token(KEYS.form_token(sign), sign)
    assert not KEYS.is_form_token(KEYS.form_token(sign), KEYS.login(NOW + SECOND))
    assert KEYS.form_token("ü") != KEYS.form_token("u")
