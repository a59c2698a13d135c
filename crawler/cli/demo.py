"""`vitrine demo`: the main job at work, offline, on shops that this package brings along."""

from __future__ import annotations

import fcntl
import os
import secrets
import shlex
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from attrs import frozen

from crawler.archive.indexing import index_pages
from crawler.archive.search import SearchOrder
from crawler.cli.crawl import Crawl, run_crawl
from crawler.cli.options import Json
from crawler.cli.output import emit, note, say, table_of
from crawler.cli.sessions import result_row
from crawler.cli.stores import opened, reading
from crawler.config import LOOPBACK_NAMES, Settings, load_settings
from crawler.demo import DEMO_SIX, NETWORK, SHOPS, serve
from crawler.errors import LockedError
from crawler.views import sessions as views
from crawler.views.search import results

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from uuid import UUID

    from crawler.demo import DemoServer, Shop
    from crawler.views.sessions import SessionDocument

MARKER = ".vitrine-demo"
_OWN_ROOM = {"PUBLIC_HOSTS": ",".join(LOOPBACK_NAMES), "REPLAY_BASE_URL": "", "WEB_READ_ONLY": "0"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    *,
    home: Annotated[
        Path | None, typer.Option("--home", help="Folder for what comes out; `demo` in VITRINE_HOME.")
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Leave the shops open until Ctrl-C, and what was kept in a browser."),
    ] = False,
    as_json: Json = False,
) -> int:
    """Start six shops on this machine, visit each once, and show what came out.

    It has its own folder, emptied at each start, and never touches your database.
    """
    folder = (home or load_settings().vitrine_home / "demo").resolve()
    with _alone(folder), serve() as server:
        environment = demo_environment(_fresh_folder(folder))
        urls = {server.url(shop.name, "/"): shop for shop in DEMO_SIX}
        if not as_json:
            note(f"six shops are open on {NETWORK}; each is visited once, one request at a time …")
        finished = run_crawl(Crawl("pdp", {"url": " ".join(urls)}, environment=environment))
        if not finished.sessions:
            return finished.exit_code or 1
        settings = _settings(environment)
        sessions = _described(settings, finished.sessions)
        indexed = _index(settings)
        _show(sessions, urls, folder, indexed, as_json=as_json)
        if keep and not finished.interrupted:
            _stay_open(server, _settings(environment, **_OWN_ROOM, ADMIN_TOKEN=secrets.token_urlsafe(12)))
    return 130 if finished.interrupted else _exit_code(sessions, urls)


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Keep other demos out of the folder, which each empties at its start."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockedError(
                f"another demo is at work in {folder}", hint="wait for it, or give this one a --home"
            ) from None
        yield


def demo_environment(folder: Path) -> dict[str, str]:
    """This process's environment, with every setting that could lead out of the demo's folder replaced."""
    ours = {name.upper() for name in Settings.model_fields}
    inherited = {name: value for name, value in os.environ.items() if name.upper() not in ours}
    # An empty value means the default, and it hides what a .env file says.
    return {**inherited, **dict.fromkeys(ours, ""), "VITRINE_HOME": str(folder), "EGRESS_ALLOW": NETWORK}


def _fresh_folder(folder: Path) -> Path:
    if folder.exists():
        if any(folder.iterdir()) and not (folder / MARKER).exists():
            raise typer.BadParameter(f"{folder} holds something that is not from a demo")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARKER).touch()
    return folder


def _settings(environment: Mapping[str, str], **more: str) -> Settings:
    own = {name: environment[name] for name in ("VITRINE_HOME", "EGRESS_ALLOW")}
    return load_settings({**dict.fromkeys(("DATABASE_URL", "ARTIFACTS_DIR"), ""), **own, **more})


def _described(settings: Settings, ids: Sequence[UUID]) -> list[SessionDocument]:
    with reading(settings) as db:
        return views.of(db, db.now, ids)


@frozen
class _Indexed:
    """How many pages can be searched, and a word that finds one."""

    pages: int
    word: str


def _index(settings: Settings) -> _Indexed:
    with opened(settings) as stores:
        pages = index_pages(stores.database, stores.blobs).indexed
        with stores.database.read() as db:
            titles = " ".join(hit.title for hit in results(db, SearchOrder(page_size=1)).results)
    return _Indexed(pages, max(titles.split(), key=len, default="shop").strip(",.:;-"))


def _show(
    sessions: Sequence[SessionDocument],
    urls: Mapping[str, Shop],
    folder: Path,
    indexed: _Indexed,
    *,
    as_json: bool,
) -> None:
    if as_json:
        emit({"home": str(folder), "sessions": sessions, "snapshots": indexed.pages})
        return
    table_of([{"shop": urls[session.url].title, **result_row(session)} for session in sessions])
    first = next((session for session in sessions if session.pdp_url), sessions[0])
    vitrine = f"VITRINE_HOME={os.path.relpath(folder)} {_called_as()}"
    say("\n{pages} pages can be searched.", pages=indexed.pages)
    say("\nLook further:")
    for command in (
        f"{vitrine} sessions show {str(first.id)[:8]}",
        f"{vitrine} sessions list",
        f"{vitrine} search {shlex.quote(indexed.word)}",
        f"{vitrine} serve",
        f"{vitrine} cleanup --dry-run",
        f"ls {os.path.relpath(folder)}/artifacts",
    ):
        say(f"  {command}")


def _called_as() -> str:
    """This command as it can be typed here: `make demo` runs it without it being on the PATH."""
    name = Path(sys.argv[0]).name
    return name if shutil.which(name) else os.path.relpath(sys.argv[0])


def _exit_code(sessions: Sequence[SessionDocument], urls: Mapping[str, Shop]) -> int:
    """0 when every visit ended as its shop is meant to end it, failures included."""
    as_meant = all(session.status == urls[session.url].status for session in sessions)
    return 0 if as_meant and len(sessions) == len(urls) else 1


def _stay_open(server: DemoServer, settings: Settings) -> None:
    """Keep the shops open, and what was kept of them in a browser, until a signal says stop."""
    from crawler.web import serving  # ruff: ignore[import-outside-top-level] - slow to load, and seldom needed

    say("\nThe shops stay open; Ctrl-C closes them:")
    for shop in SHOPS.values():
        say(f"  {server.url(shop.name, '/')}  {shop.purpose}")
    with opened(settings) as stores, serving.listening("127.0.0.1", 0) as bound:
        say("\nWhat was kept of them can be read at:\n  {address}", address=serving.address_of(bound))
        token = settings.admin_token.get_secret_value()
        say("Its workshop opens with the token {token}", token=token)
        sys.stdout.flush()
        serving.serve(stores, bound)
