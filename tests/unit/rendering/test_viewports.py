"""What a browser says of itself: a window's own, with our name, so that a site knows who came."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.rendering.viewports import VIEWPORTS, Viewport


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=list(VIEWPORTS))
def test_a_window_is_named_with_us_in_it(viewport: Viewport) -> None:
    """Its version is told by its first number alone, as browsers do."""
    named = viewport.user_agent("141.0.7390.37", "Vitrine/1 (+https://ops.example)")
    assert "Chrome/141.0.0.0" in named
    assert "7390" not in named
    assert named.endswith(" Vitrine/1 (+https://ops.example)")
    assert ("Mobile Safari" in named) is viewport.is_mobile


@pytest.mark.parametrize("viewport", VIEWPORTS.values(), ids=list(VIEWPORTS))
def test_a_context_grants_a_page_nothing(viewport: Viewport) -> None:
    """No downloads, no workers that outlive it, no permission; its zone and language are ours."""
    settings = load_settings({"RENDER_TIMEZONE": "Asia/Tokyo", "RENDER_LOCALE": "ja-JP"})
    options = viewport.context("1", settings)
    assert (options["accept_downloads"], options["service_workers"], options["permissions"]) == (
        False,
        "block",
        [],
    )
    assert (options["timezone_id"], options["locale"]) == ("Asia/Tokyo", "ja-JP")
    assert options["viewport"] == options["screen"] == {"width": viewport.width, "height": viewport.height}
    assert options["has_touch"] is options["is_mobile"] is viewport.is_mobile
