"""What `-a` may say to the pdp spider."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from attrs import frozen

from crawler.errors import ConfigError, UsageError
from crawler.pdp import POLICIES
from crawler.sessions.batches import UrlLine, read_url_file, read_urls
from crawler.urls import require_http_url, root_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.config import Settings

# An evidence pack is a rendered session; it comes with the browser.
MODES = ("standard", "debug")
RETENTIONS = ("short", "standard", "long")
RENDERS = ("0", "auto")
TARGETS = ("url", "urls", "pdp", "session", "listing")
KNOWN = (*TARGETS, "mode", "render", "retention", "policy")
# Stands for the URLs to come where a worker's arguments are checked.
_ANY_URL = "https://shop.example/"


@frozen
class PdpArguments:
    """The spider's arguments, checked."""

    targets: tuple[UrlLine, ...] = ()  # from -a url, or from the file
    file: Path | None = None
    pdp: str | None = None
    session: str | None = None
    listings: tuple[str, ...] = ()  # ids, or how they begin, or URLs
    mode: str = "standard"
    retention: str = "standard"
    policy: str | None = None  # None: CRAWL_POLICY_VERSION

    @classmethod
    def parse(cls, given: Mapping[str, str]) -> Self:
        """Take what `-a` gave, or say what is wrong with it."""
        _check_names(given)
        _check_choices(given)
        file = Path(given["urls"]).resolve() if given.get("urls") else None
        pdp = require_http_url(given["pdp"]) if given.get("pdp") else None
        named = given.get("url") or (root_of(pdp) if pdp else "")
        return cls(
            targets=tuple(read_url_file(file) if file else _targets(named)),
            file=file,
            pdp=pdp,
            session=given.get("session") or None,
            listings=tuple(given.get("listing", "").split()),
            mode=given.get("mode", "standard"),
            retention=given.get("retention", "standard"),
            policy=given.get("policy") or None,
        )


def _targets(text: str) -> list[UrlLine]:
    """One URL or several with spaces between; of several some may be wrong, but not all."""
    targets = read_urls(text.split())
    if targets and all(target.error for target in targets):
        require_http_url(text)  # says what is wrong with it
    return targets


def _check_names(given: Mapping[str, str]) -> None:
    # Scrapyd passes arguments of its own, which begin with an underscore.
    unknown = sorted(name for name in given if name not in KNOWN and not name.startswith("_"))
    if unknown:
        raise UsageError(f"-a {unknown[0]}=… is unknown", hint="it takes " + ", ".join(KNOWN))
    targets = [name for name in TARGETS if given.get(name)]
    if not targets:
        raise UsageError("there is nothing to crawl", hint="give -a url=https://… or -a urls=FILE")
    if len(targets) > 1 and targets != ["url", "pdp"]:
        raise UsageError(f"-a {targets[0]}=… and -a {targets[1]}=… exclude each other")


def _check_choices(given: Mapping[str, str]) -> None:
    choices = {"mode": MODES, "retention": RETENTIONS, "render": RENDERS, "policy": tuple(POLICIES)}
    for name, takes in choices.items():
        if given.get(name) and given[name] not in takes:
            raise UsageError(f"-a {name}={given[name]} is unknown", hint=f"{name} takes " + ", ".join(takes))


def check_worker(settings: Settings, given: Mapping[str, str]) -> None:
    """Say what keeps a worker of a fleet from working: it needs a Redis, and no URLs of its own."""
    if not settings.redis_url:
        raise ConfigError(
            "FLEET needs REDIS_URL: through it the fleet is fed, and through it domains are locked",
            hint="set REDIS_URL=redis://HOST:PORT/0, the same on all machines",
        )
    target = next((name for name in TARGETS if given.get(name)), None)
    if target:
        raise UsageError(
            f"FLEET and -a {target}=… exclude each other",
            hint="feed the fleet with `redis-cli lpush pdp:start_urls URL`, or crawl with -s FLEET=0",
        )
    PdpArguments.parse({**given, "url": _ANY_URL})
