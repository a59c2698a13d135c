"""`scrapy shell` in a project with these settings: its log is that of all other commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.commands.shell import Command as ScrapyShell
from scrapy.exceptions import UsageError
from scrapy.responsetypes import responsetypes
from scrapy.utils.url import guess_scheme
from w3lib.url import file_uri_to_path

from crawler.commands.checked import PageCommand

if TYPE_CHECKING:
    import argparse

    from scrapy.http import Response


class Command(PageCommand, ScrapyShell):
    """An answer to play with, through the gate, or a file."""

    _file: Response | None = None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read a file that is named, which no session is needed for; fetch anything else."""
        if args and (path := _file_of(args[0])) is not None:
            self._file, args = _response_of(path), []
        super().run(args, opts)

    def update_vars(self, vars: dict[str, Any]) -> None:  # ruff: ignore[builtin-argument-shadowing] - Scrapy's name
        """Show the file until something is fetched."""
        if self._file is not None and vars["response"] is None:
            vars.update(response=self._file, request=self._file.request)


def _file_of(given: str) -> Path | None:
    """Return the path of a file that is named as such, or by a name that is one here; else it is a URL."""
    if "://" not in given and Path(given).is_file():
        return Path(given).absolute()
    url = guess_scheme(given)
    return Path(file_uri_to_path(url)) if url.startswith("file:") else None


def _response_of(path: Path) -> Response:
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", print_help=False) from None
    kind = responsetypes.from_args(filename=str(path), body=body)
    return kind(url=path.as_uri(), body=body, request=Request(path.as_uri()))
