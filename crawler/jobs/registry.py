"""Sources as jobs know them: registered under their codes, and made into what a job is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve
from sqlalchemy import func, select

from crawler.access.egress import EgressPolicy
from crawler.db.models import RegisteredSource
from crawler.db.upsert import insert_into
from crawler.engines.flags import OptionError, checked_options, checked_passthrough
from crawler.errors import NotFoundError, UsageError
from crawler.runs.source_keys import MAX_ENTRIES, each_once
from crawler.urls import domain_of, host_of, redact, require_http_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from sqlalchemy.orm import Session

    from crawler.config import Settings
    from crawler.runs.sources import Source

PRODUCTION = "production"
STAMP = "%Y%m%dT%H%M%SZ"
# Names that lead to this machine; their addresses are asked for nowhere before a crawl begins.
_LOCAL_NAMES = ("localhost", ".localhost", ".local", ".internal")
# Limits of a source, as the engine zimit takes them.
_ZIMIT_LIMITS = {"depth": "--depth", "max_pages": "--pageLimit"}


def seed_sources(db: Session, sources: Iterable[Source], now: datetime) -> int:
    """Register what is missing; how many that were."""
    added = 0
    for source in sources:
        row = {
            "code": source.code.lower(), "name": source.name,
            "base_url": source.base_url or source.start_urls[0], "description": source.description or None,
            "enabled": source.enabled, "created_at": now, "updated_at": now,
        }  # fmt: skip
        statement = (
            insert_into(db, RegisteredSource).values(row).on_conflict_do_nothing(index_elements=["code"])
        )
        added += len(db.execute(statement.returning(RegisteredSource.id)).all())
    return added


def registered_codes(db: Session) -> dict[str, datetime]:
    """The codes that jobs may name, and since when."""
    return {row.code: row.created_at for row in db.scalars(select(RegisteredSource))}


def find_registered(db: Session, code: str) -> RegisteredSource:
    """The registered source with a code, in whichever case."""
    row = db.scalar(select(RegisteredSource).where(RegisteredSource.code == func.lower(code)))
    if row is None:
        raise NotFoundError(
            f"source {redact(code)[:100]!r} is not registered",
            hint="`vitrine sources seed` registers what is missing",
        )
    return row


def output_dir_of(root: Path, source: Source, name: str, now: datetime) -> Path:
    """Where a job that is made now writes."""
    return root / source.code.lower() / f"{now.strftime(STAMP)}__{name}"


def checked_seeds(seeds: Iterable[str], settings: Settings) -> tuple[str, ...]:
    """The seeds, each once; one that is no URL, or that leads to a private address, is refused."""
    checked = each_once(require_http_url(seed) for seed in seeds)
    if not checked:
        raise UsageError("there are no seeds", hint="give one URL at least")
    if len(checked) > MAX_ENTRIES:
        raise UsageError(f"{len(checked)} seeds are too many", hint=f"at most {MAX_ENTRIES}")
    for seed in checked:
        if reason := why_private(seed, settings):
            raise UsageError(f"{redact(seed)} is no seed: {reason}", hint="EGRESS_ALLOW names exceptions")
    return checked


def job_config(
    source: Source,
    settings: Settings,
    seeds: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    *,
    passthrough: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """What a job of this source is told; what the source says is copied, never changed."""
    all_seeds = checked_seeds([*source.start_urls, *seeds], settings)
    # Where people work on it, others may read what is archived; where it is served, its operator decides.
    said = {"relax_perms": settings.app_env != PRODUCTION, **source.job, **(options or {})}
    domains = each_once([*source.allowed_domains, *map(domain_of, seeds)])
    arguments = checked_passthrough([*_limits(source), *source.engine_args, *passthrough])
    if passthrough and source.engine != "zimit":
        _require_scrapys(passthrough)
    return {
        "seeds": list(all_seeds),
        "zimit_passthrough_args": list(arguments),
        "tool_options": checked_options(said),
        "source": evolve(source, start_urls=all_seeds, allowed_domains=domains, job={}).as_plan(),
    }


def _limits(source: Source) -> list[str]:
    if source.engine != "zimit":
        return []
    limits = ((flag, getattr(source, key)) for key, flag in _ZIMIT_LIMITS.items())
    return [word for flag, limit in limits if limit is not None for word in (flag, str(limit))]


def _require_scrapys(passthrough: Sequence[str]) -> None:
    """The engine `vitrine` passes settings on, and nothing else."""
    words = list(passthrough)
    pairs = list(zip(words[::2], words[1::2], strict=False))
    if len(words) % 2 or not all(flag == "-s" and "=" in pair for flag, pair in pairs):
        raise OptionError(
            "the engine vitrine takes no such arguments", hint="-s NAME=VALUE passes a setting on"
        )


def why_private(url: str, settings: Settings) -> str | None:
    """Why a URL is not to be visited, as far as its spelling shows: it leads to a private address."""
    policy, host = EgressPolicy.of(settings.egress_allow), host_of(url)
    if host.replace(".", "").isdigit() or ":" in host:
        return policy.refusal(host, [host])
    local = any(host == name.lstrip(".") or host.endswith(name) for name in _LOCAL_NAMES)
    return policy.refusal(host, ["127.0.0.1"]) if local else None
