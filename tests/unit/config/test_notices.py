"""Where notices go is a secret, and is somewhere."""

from __future__ import annotations

import pytest

from crawler.config import load_settings, shown
from crawler.errors import ConfigError

HOOK = "https://hooks.example/T0/geheim"


def test_a_hook_is_shown_to_nobody() -> None:
    """Its path is its password."""
    settings = load_settings({"NOTIFY_URL": HOOK, "NOTIFY_COMMAND": "mail --token geheim"})
    assert settings.notify_url.get_secret_value() == HOOK
    assert "geheim" not in f"{settings!r} {shown(settings)}"


@pytest.mark.parametrize(
    "said", ["hooks.example/x", "https://", "ftp://geheim.example/", "https://x.example:0/geheim"]
)
def test_what_is_no_address_is_refused(said: str) -> None:
    """Without the rest of what was said."""
    with pytest.raises(ConfigError, match="NOTIFY_URL") as refused:
        load_settings({"NOTIFY_URL": said})
    assert "geheim" not in f"{refused.value} {refused.value.hint}"
