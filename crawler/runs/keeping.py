"""In which form a run keeps what it fetches: a run goes on as it was begun, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.config import Settings

KEY = "keeping"  # of a run's plan


def keeping_of(settings: Settings) -> dict[str, Any]:
    """What a run that begins now is to remember."""
    return {
        "records": settings.is_recording,
        "pages_in_warcs": settings.pages_in_warcs,
        "warc_dir": str(settings.warcs.absolute()) if settings.is_recording else None,
        "judge_pages": settings.judge_pages,
    }


def as_begun(plan: Mapping[str, Any], settings: Settings) -> dict[str, str]:
    """The settings, other than these, with which a run goes on as it was begun; none of an older run's."""
    begun = plan.get(KEY)
    if not isinstance(begun, dict):
        return {}
    said: dict[str, str] = {}
    if begun.get("records") and not settings.is_recording:
        said["WARC_DIR"] = str(begun.get("warc_dir"))
    in_warcs = bool(begun.get("pages_in_warcs"))
    would_be = settings.pages_in_warcs or (settings.page_store == "auto" and "WARC_DIR" in said)
    if in_warcs != would_be:
        said["PAGE_STORE"] = "warc" if in_warcs else "files"
    if begun.get("judge_pages", True) != settings.judge_pages:
        said["JUDGE_PAGES"] = str(int(begun["judge_pages"]))
    return said


def require_recording(run_id: int, plan: Mapping[str, Any], settings: Settings) -> None:
    """Refuse to go on unrecorded with what is being recorded: nobody would learn what is missing."""
    missing = as_begun(plan, settings)
    if "WARC_DIR" in missing or missing.get("PAGE_STORE") == "warc":
        said = " ".join(f"-s {name}={value}" for name, value in missing.items())
        raise ConfigError(
            f"run {run_id} is kept in WARC files, and this crawl would go on without them",
            hint=f"`vitrine runs resume {run_id}` goes on as it was begun, as does {said}",
        )
