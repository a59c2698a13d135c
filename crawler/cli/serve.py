"""`vitrine serve`: the reading room, the API and the workshop, in a browser."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from crawler.cli.output import note, say
from crawler.cli.stores import opened
from crawler.config import load_settings
from crawler.web import serving


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("serve")(serve)


def serve(
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0: any that is free.")] = 8080,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> int:
    """Show everything in a browser, and answer programs, until a signal says stop.

    Examples:
      vitrine serve

      ADMIN_TOKEN=… PUBLIC_HOSTS=archive.example vitrine serve --host 0.0.0.0
    """
    settings = load_settings()
    serving.check_bind(host, settings)
    with opened(settings) as stores, serving.listening(host, port) as bound:
        address = serving.address_of(bound)
        say("{address}", address=address)
        if settings.is_guarded and not settings.admin_token.get_secret_value():
            note("ADMIN_TOKEN is not set: /admin, its API and /metrics answer nobody")
        note("Ctrl-C stops it")
        if open_browser:
            webbrowser.open(address)
        serving.serve(stores, bound)
    return 0
