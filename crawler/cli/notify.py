"""`vitrine notify`: whoever wants to be told is told what happened, once, and no crawl waits for it."""

from __future__ import annotations

import http.client
import shlex
import socket
import ssl
import subprocess
import time
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from crawler import __version__
from crawler.access.egress import EgressPolicy, EgressRefusedError
from crawler.cli.options import Json, person
from crawler.cli.output import emit, note, say
from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.errors import CrawlerError, UsageError
from crawler.leases.backoff import Backoff
from crawler.retention.holds import note_action
from crawler.urls import redacted
from crawler.views.documents import as_json as json_of
from crawler.views.notices import ACTION, NoticeDocument, pending

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.config import Settings

ATTEMPTS = 3
BACKOFF = Backoff(base=1.0, maximum=10.0)
COMMAND_SECONDS = 30
ANSWER_SECONDS = 10
SUCCESS = 2  # 2xx


class NotToldError(CrawlerError):
    """Nobody took what was to be told; it is told the next time."""

    code = "not_told"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("notify")(notify)


def notify(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be told, and tell nobody.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Tell NOTIFY_COMMAND and NOTIFY_URL what happened since the last time: for cron, every few minutes.

    Prices that moved, runs and domains that brought nothing, success rates that fell, cleanups and archive
    jobs that failed. What nobody took is told the next time, and what is not two minutes old.

    Examples:
      vitrine notify --dry-run
    """
    settings = load_settings()
    tellers = () if dry_run else _tellers(settings)
    with opened(settings) as stores:
        with stores.database.read() as db:
            document, mark = pending(db, db.now)
        if document.notices and not dry_run:
            text = json_of(document)
            for tell in tellers:
                _insist(tell, text)
            with stores.database.write() as db:
                note_action(db, ACTION, "what happened", actor=person(), now=db.now, **mark)
    _show(document, as_json=as_json)


def _show(document: NoticeDocument, *, as_json: bool) -> None:
    if as_json:
        emit(document)
        return
    for notice in document.notices:
        say("{kind}: {what}", kind=notice.kind, what=notice.text)
    if document.more:
        note(f"and {document.more} more")
    if not document.notices:
        note(
            f"nothing happened from {document.since:%Y-%m-%d %H:%M} to {document.until:%Y-%m-%d %H:%M} UTC; "
            "what came after is told next time"
        )


def _tellers(settings: Settings) -> tuple[Callable[[str], None], ...]:
    command = shlex.split(settings.notify_command.get_secret_value())
    url = settings.notify_url.get_secret_value()
    tellers: list[Callable[[str], None]] = []
    if command:
        tellers.append(lambda text: _call(command, text))
    if url:
        policy = EgressPolicy.of(settings.egress_allow)
        tellers.append(lambda text: _post(url, policy, text))
    if not tellers:
        raise UsageError("nobody is to be told", hint="set NOTIFY_COMMAND or NOTIFY_URL, or give --dry-run")
    return tuple(tellers)


def _insist(tell: Callable[[str], None], text: str) -> None:
    """Try a few times; the last failure is the command's."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            tell(text)
        except (OSError, http.client.HTTPException, subprocess.SubprocessError) as error:
            if attempt == ATTEMPTS:
                raise NotToldError(
                    f"nobody took the notices: {redacted(str(error)) or type(error).__name__}",
                    hint="they are told the next time; `vitrine notify --dry-run` shows them",
                ) from None
            time.sleep(BACKOFF.delay(attempt))
        else:
            return


def _call(command: list[str], text: str) -> None:
    """Give the document to the program; what it prints is the operator's own."""
    document = text.encode()
    subprocess.run(command, input=document, stdout=subprocess.DEVNULL, timeout=COMMAND_SECONDS, check=True)  # ruff: ignore[subprocess-without-shell-equals-true] - the operator's own


def _post(url: str, policy: EgressPolicy, text: str) -> None:
    """Send the document to an address that may be connected to; a redirect is no yes."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(each[4][0]) for each in found]
    if refusal := policy.refusal(host, addresses):
        raise EgressRefusedError(
            f"NOTIFY_URL leads to {host}, which is refused: {refusal}",
            hint=f"EGRESS_ALLOW={host} would allow it",
        )
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    # To the very address that was looked at: asking for the name again could give another one.
    connection.sock = socket.create_connection((addresses[0], port), ANSWER_SECONDS)
    try:
        if parts.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(connection.sock, server_hostname=host)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, text.encode(), _headers(host, parts.port))
        status = connection.getresponse().status
    finally:
        connection.close()
    if status // 100 != SUCCESS:
        raise http.client.HTTPException(f"{host} answered {status}")


def _headers(host: str, port: int | None) -> dict[str, str]:
    name = f"[{host}]" if ":" in host else host
    return {
        "Host": f"{name}:{port}" if port else name,
        "Content-Type": "application/json",
        "User-Agent": f"Vitrine/{__version__}",
    }
