"""Who asks a site, what may be reached, and how polite one is."""

from __future__ import annotations

import ipaddress
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from crawler.config.fields import Milliseconds, Seconds, SettingsPart, Takes, checked_url, without_user


class AccessSettings(SettingsPart):
    """One polite visitor per domain, and no private address."""

    contact_url: Annotated[str, Takes("a URL that begins with https://, http:// or mailto:")] = Field(
        "https://vitrine.example/crawler",
        description="Where a site's owner learns who crawls; stands in the user agent.",
    )
    egress_allow: Annotated[
        tuple[str, ...],
        NoDecode,
        Takes("host names, addresses and networks like 10.0.0.0/8, separated by commas"),
    ] = Field(
        (),
        description="Hosts and networks that may be fetched although they are private, separated by commas.",
    )
    proxy_url: Annotated[str, Takes("http://HOST:PORT")] = Field(
        "",
        repr=False,
        description="A proxy for all pages; it decides what may be reached. The environment's are ignored.",
    )

    domain_lock_ttl_seconds: Seconds = Field(
        300, ge=1, le=86_400, description="How long a lock outlives a holder that died."
    )
    domain_lock_max_retries: int = Field(
        3, ge=1, le=20, description="Attempts to get a lock that somebody else holds."
    )
    domain_lock_backoff_base_ms: Milliseconds = Field(
        1000, ge=1, le=60_000, description="First wait between two attempts; it doubles each time."
    )
    domain_throttle_ttl_seconds: Seconds = Field(
        60, ge=1, le=86_400, description="How long the end of a session is remembered."
    )
    domain_min_delay_ms: Milliseconds = Field(
        2000, ge=0, le=3_600_000, description="Least time between two sessions of a domain."
    )
    domain_max_delay_seconds: Seconds = Field(
        300,
        ge=0,
        le=86_400,
        description="The longest delay that a site may ask for with Retry-After or Crawl-delay.",
    )
    robots_patience_seconds: Seconds = Field(
        300,
        ge=0,
        le=2_592_000,
        description="How long a run asks again for a robots.txt that cannot be had, before that domain's "
        "pages fail.",
    )
    domain_queue_wait_seconds: Seconds = Field(
        0,
        ge=0,
        le=86_400,
        description="How long to wait for a domain that another session holds, before attempts count.",
    )
    disable_throttle: bool = Field(default=False, description="Skip the wait between sessions (for tests).")
    disable_locks: bool = Field(default=False, description="Skip locks and waits altogether (for tests).")

    @field_validator("egress_allow", mode="before")
    @classmethod
    def _split_list(cls, value: Any) -> Any:
        return (
            tuple(part.strip() for part in value.split(",") if part.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("egress_allow")
    @classmethod
    def _networks_are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for part in value:
            if "/" in part:
                ipaddress.ip_network(part, strict=False)
            elif part[-1:].isdigit() and ":" not in part:  # no name of a host ends in a number
                ipaddress.ip_address(part)
            without_user(part)
        return value

    @field_validator("proxy_url")
    @classmethod
    def _known_proxy(cls, value: str) -> str:
        return checked_url(value, ("http", "https"))

    @field_validator("contact_url")
    @classmethod
    def _contact_is_a_link(cls, value: str) -> str:
        if not value.startswith(("https://", "http://", "mailto:")) or any(c.isspace() for c in value):
            raise ValueError("scheme")
        if value.startswith("mailto:"):
            if "@" not in value:
                raise ValueError("address")
            return value
        return without_user(checked_url(value, ("http", "https")))

    @cached_property
    def user_agent(self) -> str:
        """How a crawl names itself to sites."""
        from crawler import __version__  # ruff: ignore[import-outside-top-level] - the package must not import itself

        return f"Vitrine/{__version__} (+{self.contact_url})"
