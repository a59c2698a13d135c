"""The kinds of values that settings take: units, words for what is accepted, and checks.

A check raises a ValueError; the message that an operator reads is made of the words in `Takes`.
"""

from __future__ import annotations

import codecs
import ipaddress
import re
import shlex
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import parse_qsl, urlsplit
from zoneinfo import ZoneInfo

from attrs import frozen
from pydantic import AfterValidator, BeforeValidator, SecretStr, StringConstraints
from pydantic_settings import NoDecode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

S3_SCHEME = "s3://"
_DATABASE_SCHEMES = ("sqlite", "postgresql", "postgresql+psycopg")
_SQLITE_OPTIONS = {"timeout", "cached_statements", "uri", "mode", "cache", "immutable", "nolock", "vfs"}
_REDIS_SCHEMES = ("redis", "rediss", "unix")
_REDIS_DATABASE = re.compile(r"(/\d*)?")
_WEB_SCHEMES = ("http", "https")
# What systems keep beside the zones, under names that no browser knows.
_NO_ZONES = ("posix", "posixrules", "right")
_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")
_TOKEN = re.compile(r"[!-~]*")


@frozen
class Takes:
    """In words, the values that a field accepts, where its type does not say it."""

    words: str


def _server_url(value: str, schemes: Collection[str] = _WEB_SCHEMES) -> str:
    """Accept an empty value, or a URL with one of these schemes and a port that can be reached."""
    if value and (value.partition("://")[0] not in schemes or urlsplit(value).port == 0):
        raise ValueError("URL")
    if value.startswith(("http:", "https:")) and not urlsplit(value).hostname:
        raise ValueError("host")
    return value


def _without_user(value: str) -> str:
    """Accept a URL or host that names no user: a value that is displayed has no place for a password."""
    if "@" in value.partition("://")[2 if "://" in value else 0].partition("/")[0]:
        raise ValueError("user")
    return value


def _web_url(value: str) -> str:
    return _without_user(_server_url(value))


def _contact(value: str) -> str:
    if not value.startswith(("https://", "http://", "mailto:")) or any(c.isspace() for c in value):
        raise ValueError("scheme")
    if value.startswith("mailto:"):
        if "@" not in value:
            raise ValueError("address")
        return value
    return _web_url(value)


def _replay_url(value: str) -> str:
    value = value.strip()
    if value and "://" not in value:
        value = f"https://{value}"
    if value and (not urlsplit(value).hostname or urlsplit(value).query or "#" in value):
        raise ValueError("URL")
    return _web_url(value.rstrip("/"))


def _database_url(value: str) -> str:
    _server_url(value, _DATABASE_SCHEMES)
    if options := urlsplit(value).query:
        _require_database_options(value.partition(":")[0], [name for name, _ in parse_qsl(options)])
    return value


def _require_database_options(scheme: str, names: Collection[str]) -> None:
    """Refuse what the driver would find out with the first connection."""
    if scheme == "sqlite":
        known = _SQLITE_OPTIONS
    else:
        from psycopg.pq import Conninfo  # ruff: ignore[import-outside-top-level] - slow to load, and seldom needed

        known = {option.keyword.decode() for option in Conninfo.get_defaults()}
    if set(names) - known:
        raise ValueError("option")


def _redis_url(value: str) -> str:
    _server_url(value, _REDIS_SCHEMES)
    # redis-py would take database 0 for one that is no number.
    if not value.startswith("unix") and not _REDIS_DATABASE.fullmatch(urlsplit(value).path):
        raise ValueError("database")
    if "?" in value:
        _require_redis_options(value)
    return value


def _require_redis_options(redis_url: str) -> None:
    """Refuse what redis-py would find out with the first call, in a traceback."""
    from redis import ConnectionPool  # ruff: ignore[import-outside-top-level] - slow to load, and seldom needed

    try:
        ConnectionPool.from_url(redis_url).make_connection()  # which connects later
    except TypeError:
        raise ValueError("option") from None


def _store_address(value: str) -> str:
    scheme, is_url, bucket = value.partition("://")
    if is_url and (f"{scheme}://" != S3_SCHEME or not bucket.strip("/")):
        raise ValueError("scheme")
    return _without_user(value) if is_url else value


def _parts(value: Any) -> Any:
    """Split a list at its commas."""
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(part.strip() for part in parts if part.strip())


def _hosts_and_networks(value: tuple[str, ...]) -> tuple[str, ...]:
    for part in value:
        if "/" in part:
            ipaddress.ip_network(part, strict=False)
        elif part[-1:].isdigit() and ":" not in part:  # no name of a host ends in a number
            ipaddress.ip_address(part)
        _without_user(part)
    return value


def _networks(value: tuple[str, ...]) -> tuple[str, ...]:
    for part in value:
        ipaddress.ip_network(part, strict=False)
    return value


def _key_pattern(value: str) -> str:
    if not value.strip() or "%" in value.replace("%%", "").replace("%(name)s", ""):
        raise ValueError("key")
    return value


def _encoding(value: str) -> str:
    try:
        "a".encode(value)  # `hex` and its like are known, too, and encode no text
        return codecs.lookup(value).name
    except LookupError:
        raise ValueError("encoding") from None


def _time_zone(value: str) -> str:
    if value.partition("/")[0] in _NO_ZONES:
        raise ValueError("time zone")
    try:
        # To list them all and look there takes longer than all else about the settings.
        ZoneInfo(value)
    except (KeyError, OSError) as error:
        raise ValueError("time zone") from error
    return value


def _locale(value: str) -> str:
    if not _LOCALE.fullmatch(value):
        raise ValueError("locale")
    return value


def _token(value: str) -> str:
    if not _TOKEN.fullmatch(value):
        raise ValueError("token")
    return value


def _command_line(value: str) -> str:
    shlex.split(value)  # a ValueError where a quote is not closed
    return value


def _secret(check: Callable[[str], str]) -> AfterValidator:
    def checked(value: SecretStr) -> SecretStr:
        check(value.get_secret_value())
        return value

    return AfterValidator(checked)


Seconds = Annotated[int, "seconds"]
Milliseconds = Annotated[int, "milliseconds"]
Days = Annotated[int, "days"]
Folder = Annotated[str, Takes("a folder")]

WebUrl = Annotated[str, AfterValidator(_web_url), Takes("a URL that begins with https:// or http://")]
SecretUrl = Annotated[SecretStr, _secret(_server_url), Takes("a URL that begins with https:// or http://")]
ReplayUrl = Annotated[
    str,
    AfterValidator(_replay_url),
    Takes("a URL that begins with https:// or http://; https:// may be left out"),
]
Contact = Annotated[
    str, AfterValidator(_contact), Takes("a URL that begins with https://, http:// or mailto:")
]
ProxyUrl = Annotated[str, AfterValidator(_server_url), Takes("http://HOST:PORT")]
DatabaseUrl = Annotated[
    str, AfterValidator(_database_url), Takes("sqlite:///PATH or postgresql://USER@HOST/NAME")
]
RedisUrl = Annotated[str, AfterValidator(_redis_url), Takes("redis://HOST:PORT/DB (or rediss://, unix://)")]
StoreAddress = Annotated[str, AfterValidator(_store_address), Takes("a folder, or s3://BUCKET/PREFIX")]

_Word = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)]
_Host = Annotated[_Word, StringConstraints(pattern=r"(?i)^([a-z0-9.-]+|\[[0-9a-f:.]+\])$")]
_Origin = Annotated[_Word, StringConstraints(pattern=r"(?i)^https?://[a-z0-9.\-\[\]:]+$")]
Environment = Annotated[_Word, Takes("production, staging, or any other word")]
HostsAndNetworks = Annotated[
    tuple[str, ...],
    NoDecode,
    BeforeValidator(_parts),
    AfterValidator(_hosts_and_networks),
    Takes("host names, addresses and networks like 10.0.0.0/8, separated by commas"),
]
HostNames = Annotated[
    tuple[_Host, ...],
    NoDecode,
    BeforeValidator(_parts),
    Takes("host names without ports, separated by commas"),
]
Origins = Annotated[
    tuple[_Origin, ...],
    NoDecode,
    BeforeValidator(_parts),
    Takes("origins like https://app.example, separated by commas"),
]
Networks = Annotated[
    tuple[_Word, ...],
    NoDecode,
    BeforeValidator(_parts),
    AfterValidator(_networks),
    Takes("addresses and networks, separated by commas"),
]

KeyPattern = Annotated[str, AfterValidator(_key_pattern), Takes("a key's name, with `%(name)s` or without")]
Encoding = Annotated[str, AfterValidator(_encoding), Takes("an encoding's name, like latin-1")]
Locale = Annotated[str, AfterValidator(_locale), Takes("a language and a country, like de-DE")]
TimeZone = Annotated[str, AfterValidator(_time_zone), Takes("a time zone's name, like Europe/Berlin")]
Token = Annotated[SecretStr, _secret(_token), Takes("printable ASCII characters without blanks")]
CommandLine = Annotated[
    str,
    AfterValidator(_command_line),
    Takes("a command line; quotes hold words together, no shell reads it"),
]
SecretCommandLine = Annotated[
    SecretStr,
    _secret(_command_line),
    Takes("a command line; quotes hold words together, no shell reads it"),
]
