"""The two windows through which a page is seen, and what a browser is told for each. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from crawler.config import Settings

# The word of a browser for the system that it runs on; a phone's shop is often chosen by it.
DESKTOP_SYSTEM = "X11; Linux x86_64"
MOBILE_SYSTEM = "Linux; Android 14; Mobile"


@frozen
class Viewport:
    """A window's size, and whether it is a phone's."""

    name: str
    width: int
    height: int
    is_mobile: bool = False

    def user_agent(self, version: str, ours: str) -> str:
        """A browser's name for what it shows, and ours, so that a site knows who came."""
        system, kind = (MOBILE_SYSTEM, "Mobile ") if self.is_mobile else (DESKTOP_SYSTEM, "")
        major = version.partition(".")[0]
        return (
            f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) "
            f"Chrome/{major}.0.0.0 {kind}Safari/537.36 {ours}"
        )

    def context(self, version: str, settings: Settings) -> dict[str, Any]:
        """Playwright's options of a browsing context."""
        return {
            "viewport": {"width": self.width, "height": self.height},
            "screen": {"width": self.width, "height": self.height},
            "user_agent": self.user_agent(version, settings.user_agent),
            "is_mobile": self.is_mobile,
            "has_touch": self.is_mobile,
            "device_scale_factor": 1,
            "locale": settings.render_locale,
            "timezone_id": settings.render_timezone,
            "reduced_motion": "reduce",
            "color_scheme": "light",
            "accept_downloads": False,
            "service_workers": "block",
            "permissions": [],
        }


DESKTOP = Viewport("desktop", 1920, 1080)
MOBILE = Viewport("mobile", 390, 844, is_mobile=True)
VIEWPORTS = {each.name: each for each in (DESKTOP, MOBILE)}
