"""Which Chromium a crawl may use, how it is started, how to come by one. Nothing here loads Playwright."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
# Fonts are named because Debian only recommends them, and a page without fonts is a page of boxes.
DEBIAN_PACKAGES = ("chromium", "fonts-liberation")
# Chromium heeds the last of these flags alone, and Playwright has one too.
_FEATURES_OFF = (
    "AcceptCHFrame",
    "AimEnabled",
    "AutofillServerCommunication",
    "DestroyProfileOnBrowserClose",
    "GlobalMediaControls",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LazyFrameLoading",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",  # to the vendor's, with every page, as if the page had asked for it
    "Prerender2",
    "SpeculationRulesPrefetchFuture",
    "Translate",
)
# What a browser does of its own accord: talk to its vendor, update itself, ask, remember, fetch ahead.
QUIET_FLAGS = (
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--disable-features=" + ",".join(_FEATURES_OFF),
)
# Nothing goes past the proxy: no loopback address, no datagram, no name looked up by the browser itself.
FENCED_FLAGS = (
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-webrtc-hw-encoding",
)
# A page that asks for more memory than any shop needs loses its process, not the machine.
BOUNDED_FLAGS = ("--js-flags=--max-old-space-size=512", "--mute-audio", "--hide-scrollbars")


def find_chromium(given: str = "") -> Path | None:
    """The program: the one that the operator names, else one on the PATH, else Playwright's."""
    if given:
        if not os.access(given, os.X_OK) or Path(given).is_dir():
            raise ConfigError(
                f"CHROMIUM_PATH is {given!r}; there is no program there",
                hint="name Chromium's program, or leave it empty to use the one on the PATH",
            )
        return Path(given)
    named = next((found for name in NAMES if (found := shutil.which(name))), None)
    return Path(named) if named else _newest(_playwrights().glob("chromium-*/chrome-linux*/chrome"))


def require_chromium(given: str = "") -> Path:
    """The program, where there is one; else what brings it."""
    if (found := find_chromium(given)) is None:
        raise ConfigError("there is no Chromium to render pages with", hint=install_command())
    return found


def install_command() -> str:
    """The command that brings Chromium to this machine."""
    if shutil.which("apt-get"):
        return ("" if os.geteuid() == 0 else "sudo ") + "apt-get install --yes " + " ".join(DEBIAN_PACKAGES)
    return f"{sys.executable} -m playwright install chromium"


def launch_options(program: Path, *flags: str) -> dict[str, Any]:
    """Playwright's options that start it, quiet; sandboxed unless it is root's, whom it refuses to shield."""
    return {
        "executable_path": str(program),
        "args": [*QUIET_FLAGS, *flags],
        "chromium_sandbox": os.geteuid() != 0,
    }


def _playwrights() -> Path:
    """The folder of Playwright's own downloads."""
    given = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    return Path(given) if given else Path.home() / ".cache" / "ms-playwright"


def _newest(found: Iterable[Path]) -> Path | None:
    return max(found, key=lambda path: int(path.parents[1].name.rpartition("-")[2]), default=None)
