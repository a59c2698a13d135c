"""`vitrine crawl`: Scrapy's crawls, with progress, what came of them, and an exit code that is true."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crawler.capture.failures import TRAITS, Summary
from crawler.cli.options import Arguments, Json, Overrides, Verbose
from crawler.cli.output import LEFT, emit, note, say, table
from crawler.cli.running import Crawl, run_crawl
from crawler.cli.stores import reading
from crawler.config import Settings, load_settings
from crawler.sessions.outcome import Status
from crawler.views import runs as run_views
from crawler.views import sessions as session_views

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.views.sessions import SessionDocument

ALL_WELL, NONE_WELL, USAGE, SOME_WELL, LOCKED, INTERRUPTED = 0, 1, 2, 3, 5, 130
RESULT_COLUMNS = ("domain", "status", "product", "price", "artifacts", "bytes", "HTML goes", "why not")
# Of pages that are not to be had, by the site's rules or the source's.
REFUSED = {cause for cause, traits in TRAITS.items() if traits.is_refusal}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Crawl sites: politely, and with evidence.")
    group.command("pdp")(pdp)
    group.command("site")(site)
    app.add_typer(group, name="crawl")


def pdp(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", show_default=False)] = None,
    *,
    file: Annotated[
        Path | None,
        typer.Option("--urls", help="A file of URLs, one a line; run again, it goes on where it stopped."),
    ] = None,
    product: Annotated[
        str | None, typer.Option("--pdp", help="The product page itself, to capture it again.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="standard, or debug, which skips the delay between sessions.")
    ] = None,
    retention: Annotated[
        str | None, typer.Option(help="How long the HTML is kept: short, standard or long.")
    ] = None,
    policy: Annotated[str | None, typer.Option(help="The rule: v1.2 or v1.3.")] = None,
    arguments: Arguments = None,
    settings: Overrides = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Visit each site once: its home page, its candidates, its first valid product page.

    Examples:
      vitrine crawl pdp https://shop.example/

      vitrine crawl pdp --urls shops.txt --json
    """
    given = {
        "url": " ".join(urls) if urls else None,
        "urls": str(file) if file else None,
        "pdp": product,
        "mode": mode,
        "retention": retention,
        "policy": policy,
    }
    pairs = [*(f"{name}={value}" for name, value in given.items() if value), *(arguments or ())]
    crawl = Crawl("pdp", tuple(pairs), tuple(settings or ()), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def site(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", show_default=False)] = None,
    *,
    source: Annotated[str | None, typer.Option(help="A source of sources.toml, instead of a URL.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest run that was not completed.")
    ] = False,
    max_pages: Annotated[int | None, typer.Option(min=1, help="Plan no more pages than that.")] = None,
    depth: Annotated[int | None, typer.Option(min=0, help="Follow no more links than that in a row.")] = None,
    arguments: Arguments = None,
    settings: Overrides = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> int:
    """Crawl a whole site as a durable run: stop it, kill it, go on with it.

    Examples:
      vitrine crawl site https://shop.example/ --max-pages 500

      vitrine crawl site --source acme --resume
    """
    given = {
        "start_url": url, "source": source, "resume": "1" if resume else None,
        "max_pages": None if max_pages is None else str(max_pages),
        "depth": None if depth is None else str(depth),
    }  # fmt: skip
    pairs = [*(f"{name}={value}" for name, value in given.items() if value), *(arguments or ())]
    crawl = Crawl("site", tuple(pairs), tuple(settings or ()), verbose=verbose)
    return crawl_and_report(crawl, as_json=as_json)


def crawl_and_report(crawl: Crawl, *, as_json: bool) -> int:
    """Run a crawl, show its sessions or its run, and give the exit code that tells the truth."""
    finished = run_crawl(crawl)
    if finished.run is None and not finished.sessions:  # it never began, and has said why
        return INTERRUPTED if finished.interrupted else finished.refusal or finished.exit_code or NONE_WELL
    with reading(load_settings(_named(crawl.settings))) as db:
        if finished.run is None:
            code = _tell_sessions(session_views.of(db, db.now, finished.sessions), as_json=as_json)
        else:
            code = _tell_run(run_views.shown(db, db.now, str(finished.run)), as_json=as_json)
    if finished.interrupted:
        goes_on = any(argument.startswith("urls=") for argument in crawl.arguments)
        note("interrupted" + ("; the same command goes on where it stopped" if goes_on else ""))
        return INTERRUPTED
    return code or finished.exit_code


def _named(pairs: tuple[str, ...]) -> dict[str, str]:
    """Those of the crawl's settings that are Vitrine's: what it wrote is looked for where it wrote."""
    named = dict(pair.partition("=")[::2] for pair in pairs)
    return {name: value for name, value in named.items() if name.lower() in Settings.model_fields}


# ── sessions ──


def _tell_sessions(sessions: Sequence[SessionDocument], *, as_json: bool) -> int:
    if as_json:
        emit({"sessions": sessions})
    else:
        table(RESULT_COLUMNS, [result_row(session) for session in sessions])
    return exit_code(sessions)


def exit_code(sessions: Sequence[SessionDocument]) -> int:
    """The truth about several sessions in one number."""
    if len(sessions) == 1 and sessions[0].error_summary == Summary.LOCK_TIMEOUT:
        return LOCKED
    well = sum(session.status == Status.COMPLETED for session in sessions)
    if sessions and well == len(sessions):
        return ALL_WELL
    any_partial = any(session.status == Status.PARTIAL for session in sessions)
    return SOME_WELL if well or any_partial else NONE_WELL


def result_row(session: SessionDocument) -> tuple[Any, ...]:
    """A session's line under RESULT_COLUMNS."""
    facts = session.product
    goes = [file.retention_until for file in session.artifacts if file.retention_until]
    return (
        session.domain or session.url,
        shown_status(session),
        facts.get("name"),
        " ".join(str(facts[name]) for name in ("price", "currency") if facts.get(name)),
        len(session.artifacts),
        sum(file.size_bytes for file in session.artifacts),
        f"{min(goes):%Y-%m-%d}" if goes else "",
        why_not(session),
    )


def shown_status(session: SessionDocument) -> str:
    """How it stands, and whether anybody is at it."""
    return session.status + LEFT if session.silent else session.status


def why_not(session: SessionDocument) -> str:
    """What kept it from its end; empty where nothing did."""
    return f"{session.error_summary} ({session.cause})" if session.error_summary else ""


# ── a run ──


def _tell_run(run: Mapping[str, Any], *, as_json: bool) -> int:
    if as_json:
        emit(run)
    else:
        show_run(run)
    return run_exit_code(run)


def run_exit_code(run: Mapping[str, Any]) -> int:
    """0 when every page was had that may be had, 3 when some were, 1 when none was or it could not go on."""
    if run["status"] == "failed" or not run["tasks"]["finished"]:
        return NONE_WELL
    refused = sum(count for why, count in run["outcomes"].items() if why in REFUSED)
    is_well = run["status"] == "completed" and run["tasks"]["error"] == refused
    return ALL_WELL if is_well else SOME_WELL


def show_run(run: Mapping[str, Any]) -> None:
    """A run for people."""
    pages = run["pages"]
    say(
        "run {id} of [bold]{source}[/]: {status}\n  started {started}, ended {ended}\n  tasks: {tasks}\n"
        "  pages: {stored} stored in {visits} visits",
        id=run["id"], source=run["source"], status=shown_run_status(run), started=run["started_at"],
        ended=run["completed_at"], tasks=_counts(run["tasks"]), stored=pages["stored"],
        visits=pages["visits"],
    )  # fmt: skip
    if run["last_error"]:
        say("  [red]{error}[/]", error=run["last_error"])
    for plugin, counts in run["assets"].items():
        say("  {plugin}: {counts}", plugin=plugin, counts=_counts(counts))
    if run["failures"]:
        failures = [(row["attempts"], row["url"], row["cause"], row["last_error"]) for row in run["failures"]]
        table(("tries", "URL", "cause", "why"), failures)
    if run["permanent_lines"]:
        lines = "\n  ".join(run["permanent_lines"])
        say("\nLogins were met; to leave them out for good, in sources.toml:\n  {lines}", lines=lines)
    if run["exceptions_open"]:
        note(f"{run['exceptions_open']} worth a look: `vitrine exceptions list --run {run['id']}`")
    if run["status"] in {"stopped", "failed"} or shown_run_status(run).endswith(LEFT):
        note(f"`vitrine runs resume {run['id']}` goes on with it")


def shown_run_status(run: Mapping[str, Any]) -> str:
    """How it stands, and whether anybody is at it."""
    is_left = run["status"] == "running" and not run["workers"]
    return str(run["status"]) + (LEFT if is_left else "")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items())
