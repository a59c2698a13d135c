"""The web side: who may see what of it, and under which names it answers."""

from __future__ import annotations

import ipaddress
import re
from functools import cached_property
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, StringConstraints, field_validator
from pydantic_settings import NoDecode

from crawler.config.fields import Takes
from crawler.config.replay import ReplaySettings

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
LOCAL_ORIGINS = ("http://localhost:3000", "http://localhost:5173")
# Where a missing token is a mistake, not a choice (SPEC 98).
GUARDED_ENVIRONMENTS = frozenset({"production", "staging"})
_TOKEN = re.compile(r"[!-~]*")
_Word = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)]
_Host = Annotated[_Word, StringConstraints(pattern=r"(?i)^([a-z0-9.-]+|\[[0-9a-f:.]+\])$")]
_Origin = Annotated[_Word, StringConstraints(pattern=r"(?i)^https?://[a-z0-9.\-\[\]:]+$")]


class WebSettings(ReplaySettings):
    """What `vitrine serve` goes by."""

    app_env: Annotated[_Word, Takes("production, staging, or any other word")] = Field(
        "development",
        description="Where this runs; in `production` and `staging` nothing is open without `ADMIN_TOKEN`.",
    )
    admin_token: Annotated[SecretStr, Takes("printable ASCII characters without blanks")] = Field(
        SecretStr(""),
        description="Opens the workshop (`/admin`), its API and the metrics; empty: nothing can be changed.",
    )
    api_secret_key: Annotated[SecretStr, Takes("printable ASCII characters without blanks")] = Field(
        SecretStr(""),
        description="Opens `/audits`, where other programs have sites visited; empty: that is open to this "
        "machine alone, and to nobody in `production` and `staging`.",
    )
    public_hosts: Annotated[
        tuple[_Host, ...], NoDecode, Takes("host names without ports, separated by commas")
    ] = Field(
        LOOPBACK_NAMES,
        description="The names under which the web side answers; requests for any other are refused.",
    )
    cors_origins: Annotated[
        tuple[_Origin, ...], NoDecode, Takes("origins like https://app.example, separated by commas")
    ] = Field(
        LOCAL_ORIGINS, description="Origins whose scripts may read the public API, separated by commas."
    )
    trusted_proxies: Annotated[
        tuple[_Word, ...], NoDecode, Takes("addresses and networks, separated by commas")
    ] = Field((), description="Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.")
    rate_limit_per_minute: int = Field(
        120,
        ge=0,
        le=1_000_000,
        description="Requests that one address may send in a minute, half of it searches; 0: any number. "
        "This machine itself is not counted.",
    )
    web_read_only: bool = Field(
        default=False, description="Show everything, and refuse every change, with the token too."
    )
    exports_enabled: bool = Field(default=True, description="Give out lists of snapshots and changes.")

    @field_validator("public_hosts", "cors_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split_names(cls, value: Any) -> Any:
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(part.strip() for part in parts if part.strip())

    @field_validator("admin_token", "api_secret_key")
    @classmethod
    def _token_fits_a_header(cls, value: SecretStr) -> SecretStr:
        if not _TOKEN.fullmatch(value.get_secret_value()):
            raise ValueError("token")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _proxies_are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for part in value:
            ipaddress.ip_network(part, strict=False)
        return value

    @cached_property
    def is_guarded(self) -> bool:
        """Whether a missing token closes what it would open."""
        return self.app_env in GUARDED_ENVIRONMENTS

    @cached_property
    def served_hosts(self) -> frozenset[str]:
        """Every name that a request may be for."""
        host = urlsplit(self.replay_origin).hostname or ""
        return frozenset({*self.public_hosts, f"[{host}]" if ":" in host else host} - {""})

    @cached_property
    def pages_origin(self) -> str:
        """Where pages are, seen from an origin that archived content has for itself; empty without one."""
        if not self.replay_origin:
            return ""
        parts = urlsplit(self.replay_origin)
        own = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        name = next((each for each in self.public_hosts if each != own), own)
        return f"{parts.scheme}://{name}" + (f":{parts.port}" if parts.port else "")

    @cached_property
    def reading_origins(self) -> frozenset[str]:
        """Whose scripts may read the public API (SPEC 6)."""
        parts = urlsplit(self.replay_base_url)
        origins = self.cors_origins or LOCAL_ORIGINS
        own = {f"{parts.scheme}://{parts.netloc}".lower()} if self.replay_base_url else set[str]()
        return frozenset({*origins, *own})
