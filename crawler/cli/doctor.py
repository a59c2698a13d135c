"""`vitrine doctor`: what works here, what does not, and what would mend or add it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING
from uuid import uuid4

import typer
from attrs import frozen
from redis.exceptions import RedisError, ResponseError
from sqlalchemy import text

from crawler.access.redis_client import connect
from crawler.cli.options import Json
from crawler.cli.output import emit, note, say, size
from crawler.clock import utc_now
from crawler.config import (
    Settings,
    env_file,
    load_settings,
    shown,
    unknown_settings,
    unread_env_file,
)
from crawler.db import revisions
from crawler.db.engine import Database, sqlite_wal_is_safe
from crawler.db.soundness import MENDS, SECONDS, looked_through
from crawler.errors import CrawlerError
from crawler.evidence.folder_store import FolderStore
from crawler.evidence.store_mark import OtherStoreError, require_store
from crawler.jobs.crawling import tool_command
from crawler.jobs.presence import workers_at
from crawler.rendering.chromium import find_chromium, install_command
from crawler.runs.sources import known_sources
from crawler.stores import open_blobs
from crawler.urls import redact, redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from crawler.evidence.blobs import BlobStore

OK, ABSENT, WARN, BROKEN = "ok", "absent", "warning", "broken"
SIGNS = {
    OK: "[green]✓[/] ok     ",
    ABSENT: "[dim]·[/] absent ",
    WARN: "[yellow]![/] warning",
    BROKEN: "[red]✗[/] broken ",
}
MIN_FREE_BYTES = 1024 * 1024 * 1024
MAX_SKEW_SECONDS = 2.0
ANSWER_SECONDS = 2.0  # nobody waits longer for a Redis here
DOCTORS_KEY = "vitrine:doctor"  # is there for a second
TOOL_SECONDS = 10.0


@frozen
class Finding:
    """What one check found."""

    check: str
    state: str
    what: str
    fix: str = ""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(*, as_json: Json = False) -> int:
    """Check this installation; exit 1 when something that is configured does not work."""
    settings = load_settings()
    findings = [finding for check in CHECKS for finding in _examined(check, settings)]
    broken = any(finding.state == BROKEN for finding in findings)
    if as_json:
        emit({"ok": not broken, "findings": findings, "settings": shown(settings)})
        return int(broken)
    for finding in findings:
        say(f"{SIGNS[finding.state]}  [bold]{finding.check:<9}[/] {{what}}", what=finding.what)
        if finding.fix:
            say(f"           {'':<9} [dim]→ {{fix}}[/]", fix=finding.fix)
    note("next: vitrine demo" if not broken else "mend what is broken, then run this again")
    return int(broken)


def _examined(check: Callable[[Settings], Iterator[Finding]], settings: Settings) -> Iterator[Finding]:
    name = check.__name__.removeprefix("_check_")
    try:
        yield from check(settings)
    except CrawlerError as error:
        yield Finding(name, BROKEN, str(error), error.hint)
    except OSError as error:
        yield Finding(
            name, BROKEN, f"{error.filename or ''} {error.strerror}".strip(), "check its permissions"
        )


def _check_python(_settings: Settings) -> Iterator[Finding]:
    yield Finding("python", OK, f"{sys.version.split()[0]} at {sys.executable}")


def _check_settings(_settings: Settings) -> Iterator[Finding]:
    """Which file is read, which lies here and is not, and what in it is no setting."""
    file = env_file()
    if file.is_file():
        yield Finding("settings", OK, f"{file} is read; the environment wins over it")
    else:
        fix = "cp .env.example .env, there"
        yield Finding("settings", ABSENT, f"there is no {file}: the environment and the defaults hold", fix)
    if (unread := unread_env_file()) is not None:
        fix = f"write into {file}, or call commands from a folder with a scrapy.cfg of its own"
        yield Finding("settings", WARN, f"{unread} is not read", fix)
    for name, meant in unknown_settings().items():
        fix = f"write {meant}" if meant else "docs/settings.md has those that there are"
        yield Finding("settings", WARN, f"{name} in .env is no setting, and does nothing", fix)


def _check_database(settings: Settings) -> Iterator[Finding]:
    with closing(Database(settings.database)) as database:
        if database.path and not database.path.exists():
            yield Finding("database", OK, f"{database.shown} will be made by the first crawl")
        elif (found := revisions.current(database)) == revisions.HEAD:
            yield Finding("database", OK, f"{database.shown}, revision {found}")
        else:
            what = f"{database.shown} is at revision {found or 'none'}, this program needs {revisions.HEAD}"
            yield Finding("database", BROKEN, what, "vitrine db upgrade")
        if database.path and database.path.exists():
            yield from _damage(database.path)
        if database.is_sqlite:
            how = "may share a WAL" if sqlite_wal_is_safe() else "has the WAL bug of releases before 3.51.3"
            what = f"{sqlite3.sqlite_version} {how}; the writers of all processes pass one file lock"
            fix = "DATABASE_URL=postgresql://… lets several machines share one database"
            yield Finding("sqlite", OK, what, fix)
        else:
            yield _skew("database", *_database_time(database))


def _damage(path: Path) -> Iterator[Finding]:
    look = looked_through(path)
    if look.damage:
        yield Finding("database", BROKEN, f"{path} is damaged: {look.damage}", MENDS)
    elif not look.is_whole:
        what = f"{path} was looked through for damage in part: {SECONDS:.0f} s have passed, or it is busy"
        yield Finding("database", OK, what, "vitrine db backup copies it, and looks through all of that")


def _database_time(database: Database) -> tuple[float, float]:
    with database.read() as db:
        before = time.time()
        theirs = float(db.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
        return theirs, (before + time.time()) / 2


def _check_redis(settings: Settings) -> Iterator[Finding]:
    if not settings.redis_url:
        fix = "REDIS_URL=redis://… makes locks and delays hold for all machines"
        yield Finding("redis", ABSENT, "domain locks reach the processes of this machine only", fix)
        return
    shown = redact(settings.redis_url)
    try:
        version, theirs, ours = _asked_redis(settings.redis_url)
    except ResponseError as error:
        fix = "have it take writes: its memory, its role, what the user may do; without it no crawl starts"
        yield Finding("redis", BROKEN, f"{shown} refuses: {redacted(str(error))}", fix)
    except RedisError as error:
        what = f"{shown}: {redacted(str(error))}"
        yield Finding("redis", BROKEN, what, "start it, or correct REDIS_URL; without it no crawl starts")
    else:
        yield Finding("redis", OK, f"{shown}, version {version}")
        yield _skew("redis", theirs, ours)


def _asked_redis(url: str) -> tuple[str, float, float]:
    """Its version, its time and ours; one that is full, or a replica, answers and takes no lock."""
    with closing(connect(url, answer_seconds=ANSWER_SECONDS)) as client:
        before = time.time()
        seconds, micros = client.time()
        ours = (before + time.time()) / 2
        client.set(DOCTORS_KEY, "", px=1000)
        return client.info("server")["redis_version"], seconds + micros / 1e6, ours


def _skew(check: str, theirs: float, ours: float) -> Finding:
    apart = abs(theirs - ours)
    if apart <= MAX_SKEW_SECONDS:
        return Finding("clock", OK, f"{apart * 1000:.0f} ms apart from the {check}'s")
    fix = "synchronise the clocks (NTP); delays are kept by the server's, dates in logs are this machine's"
    return Finding("clock", WARN, f"{apart:.1f} s apart from the {check}'s", fix)


def _check_artifacts(settings: Settings) -> Iterator[Finding]:
    where = redact(settings.artifacts_dir) or str(settings.artifacts)
    store, name = open_blobs(settings), f".doctor-{uuid4().hex}"
    try:
        store.publish(name, utc_now().isoformat().encode())
        store.delete(name)
    except CrawlerError as error:
        hint = error.hint or "check ARTIFACTS_DIR and its permissions"
        yield Finding("artifacts", BROKEN, f"{where}: {error}", hint)
        return
    yield from _other_store(settings, store)
    if not isinstance(store, FolderStore):
        yield Finding("artifacts", OK, f"{where} can be written")
        return
    free = shutil.disk_usage(settings.artifacts).free
    state = OK if free >= MIN_FREE_BYTES else WARN
    fix = "" if state == OK else "make room, or lower HTML_RETENTION_DAYS and run vitrine cleanup"
    yield Finding("artifacts", state, f"{where} can be written, {size(free)} free", fix)


def _other_store(settings: Settings, store: BlobStore) -> Iterator[Finding]:
    """Whether the files of the database lie elsewhere; told where both can be asked."""
    with closing(Database(settings.database)) as database:
        if database.path and not database.path.exists():
            return
        try:
            if revisions.current(database) == revisions.HEAD:
                require_store(database, store)
        except OtherStoreError as error:
            yield Finding("artifacts", BROKEN, str(error), error.hint)


def _check_archive(settings: Settings) -> Iterator[Finding]:
    """Whether jobs could write, and their tool answers."""
    root, name = settings.archives, f".doctor-{uuid4().hex}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
        (root / name).unlink()
        yield Finding("archive", OK, f"{root} can be written, {size(shutil.disk_usage(root).free)} free")
    except OSError as error:
        what = f"{root} cannot be written: {error.strerror}"
        yield Finding("archive", BROKEN, what, "check ARCHIVE_ROOT, its mount and its permissions")
    yield _answer([*tool_command(settings), "--help"], "tool", "check TOOL_CMD")


def _check_workers(settings: Settings) -> Iterator[Finding]:
    """Whether anybody makes what jobs order."""
    with closing(Database(settings.database)) as database:
        if database.path and not database.path.exists():
            return
        try:
            if revisions.current(database) != revisions.HEAD:
                return
            with database.read() as db:
                number = workers_at(db, db.now)
        except CrawlerError:  # that is told already
            return
    if number:
        yield Finding(
            "workers", OK, f"{number} of archive jobs run" if number > 1 else "1 of archive jobs runs"
        )
    else:
        fix = "vitrine worker, or as a service (docs/operations.md)"
        yield Finding("workers", ABSENT, "none runs: archive jobs wait until one does", fix)


def _check_docker(settings: Settings) -> Iterator[Finding]:
    """Docker, where a source wants the engine that runs in it."""
    if any(source.engine == "zimit" for source in known_sources(settings.sources_file).values()):
        yield _answer(["docker", "info"], "docker", "start its daemon; sources with engine zimit need it")


def _answer(command: list[str], check: str, fix: str) -> Finding:
    shown_command = redact(" ".join(command))
    try:
        done = subprocess.run(  # ruff: ignore[subprocess-without-shell-equals-true] - the operator's own command
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TOOL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding(check, BROKEN, f"`{shown_command}` says nothing within {TOOL_SECONDS:.0f} s", fix)
    except OSError as error:
        return Finding(check, BROKEN, f"`{shown_command}`: {error.strerror}", fix)
    if done.returncode:
        return Finding(check, BROKEN, f"`{shown_command}` exits with {done.returncode}", fix)
    return Finding(check, OK, f"`{shown_command}` answers")


def _check_browser(settings: Settings) -> Iterator[Finding]:
    """Whether pages can be rendered: Chromium, and that it starts."""
    found = find_chromium(settings.chromium_path)
    if found is None:
        what = "no Chromium: pages are judged as the server sends them, and render=1 is refused"
        yield Finding("browser", ABSENT, what, install_command())
        return
    answer = _answer([str(found), "--version"], "browser", install_command())
    yield answer if answer.state == BROKEN else Finding("browser", OK, str(found))


def _check_contact(settings: Settings) -> Iterator[Finding]:
    if settings.contact_url != Settings.model_fields["contact_url"].default:
        yield Finding("contact", OK, settings.user_agent)
    else:
        fix = "set CONTACT_URL to a page that says who crawls, and how to reach you"
        yield Finding("contact", WARN, "sites cannot learn who visits them", fix)


CHECKS: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
    _check_python,
    _check_settings,
    _check_database,
    _check_redis,
    _check_artifacts,
    _check_archive,
    _check_workers,
    _check_docker,
    _check_browser,
    _check_contact,
)
