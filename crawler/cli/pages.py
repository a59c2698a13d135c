"""`vitrine pdp`: the rule, on saved pages."""

from __future__ import annotations

import errno
import os
import sys
import zlib
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import asdict, frozen
from rich.progress import track

from crawler.cli.options import Json, add_group
from crawler.cli.output import NOTHING_MATCHED, emit, emit_line, note, notes, say
from crawler.config import load_settings
from crawler.errors import UsageError
from crawler.html.parse import DEFAULT_MAX_BYTES, is_binary
from crawler.pdp import (
    POLICIES,
    facts_as_dict,
    judge,
    read_facts,
    read_page,
    verdict_as_dict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.pdp import Facts, Verdict

STDIN = "-"
GZIP = b"\x1f\x8b"
GZIP_WINDOW = 31  # zlib's way of saying: a gzip header, the largest window
CHUNK = 16
SIGNALS = {
    "has_price": "a price",
    "has_title_and_image": "a title and an image",
    "has_add_to_cart": "a buy control of its own",
    "has_product_schema": "a schema.org Product of its own",
}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    add_group(app, "pdp", "Judge saved pages: product page or not, and why.", check=check)


def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="HTML, plain or gzipped; - reads standard input.")
    ],
    *,
    url: Annotated[str, typer.Option(help="Where the page came from; tells its own links from others.")] = "",
    policy: Annotated[str | None, typer.Option(help="v1.2 or v1.3; CRAWL_POLICY_VERSION by default.")] = None,
    only_pdp: Annotated[bool, typer.Option("--only-pdp", help="Show product pages only.")] = False,
    as_json: Json = False,
    as_jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a page.")] = False,
    fail_empty: Annotated[
        bool, typer.Option("--fail-empty", help="Exit 4 when nothing is a product page.")
    ] = False,
) -> int:
    """Say of each file whether it is a product page, on what evidence, and what is missing.

    Examples:
      vitrine pdp check page.html

      vitrine pdp check --jsonl pages/*.html.gz
    """
    policy = policy or load_settings().crawl_policy_version
    if policy not in POLICIES:
        raise UsageError(f"--policy {policy} is unknown", hint="it takes " + ", ".join(POLICIES))
    pages = list(_shown(_judged(files, url, policy), only_pdp=only_pdp, as_json=as_json, as_jsonl=as_jsonl))
    if as_json:
        emit({"pages": [page.as_document() for page in pages]})
    failed = sum(isinstance(page, Unread) for page in pages)
    found = sum(isinstance(page, Judged) and page.verdict.is_pdp for page in pages)
    if len(files) > 1 and not (as_json or as_jsonl):
        note(
            f"{found} of {len(files)} are product pages by {policy}"
            + (f", {failed} unread" if failed else "")
        )
    if failed:
        return 1 if failed == len(files) else 3
    return NOTHING_MATCHED if fail_empty and not found else 0


@frozen
class Judged:
    """A file, what the rule says of it, and what it says of its product."""

    file: str
    url: str
    verdict: Verdict
    facts: Facts

    def as_document(self) -> dict[str, Any]:
        """In the words of the contract."""
        said = {**verdict_as_dict(self.verdict), "facts": facts_as_dict(self.facts)}
        return {"file": self.file, "url": self.url, **said}


@frozen
class Unread:
    """A file that could not be read, and why."""

    file: str
    error: str

    def as_document(self) -> dict[str, Any]:
        """An `error` in the place of a verdict."""
        return asdict(self)


def judge_file(name: str, url: str, policy: str) -> Judged | Unread:
    """Judge one file."""
    try:
        body = _read(name)
    except OSError as error:
        return Unread(name, error.strerror or str(error))
    except zlib.error as error:
        return Unread(name, f"damaged gzip file: {error}")
    if is_binary(body):
        return Unread(name, "no HTML: it is binary")
    page = read_page(body, url=url)
    return Judged(name, url, judge(page, policy), read_facts(page))


def _judged(files: Sequence[str], url: str, policy: str) -> Iterator[Judged | Unread]:
    """The verdicts in the order of the files, on all cores when there are many."""
    workers = min(os.cpu_count() or 1, len(files) // CHUNK)
    work = partial(judge_file, url=url, policy=policy)
    if workers <= 1:
        yield from _tracked(map(work, files), len(files))
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from _tracked(pool.map(work, files, chunksize=CHUNK), len(files))


def _tracked(verdicts: Iterable[Judged | Unread], count: int) -> Iterable[Judged | Unread]:
    hidden = not notes().is_terminal or count < CHUNK
    return track(verdicts, "judging", total=count, console=notes(), transient=True, disable=hidden)


def _shown(
    pages: Iterable[Judged | Unread], *, only_pdp: bool, as_json: bool, as_jsonl: bool
) -> Iterator[Judged | Unread]:
    for page in pages:
        if isinstance(page, Unread):
            note("[red]✗[/] {file}: {error}", file=page.file, error=page.error)
        elif only_pdp and not page.verdict.is_pdp:
            continue
        if as_jsonl:
            emit_line(page.as_document())
        elif not as_json and isinstance(page, Judged):
            _explain(page)
        yield page


def _explain(page: Judged) -> None:
    verdict, holds = page.verdict, page.verdict.signals.as_dict()
    if verdict.is_pdp:
        say("[green]✓[/] [bold]{name}[/] is a product page ({policy})", name=page.file, policy=verdict.policy)
    else:
        say(
            "[red]✗[/] [bold]{name}[/] is no product page ({policy}): {reasons}",
            name=page.file, policy=verdict.policy, reasons=", ".join(verdict.reasons),
        )  # fmt: skip
    for signal, what in SIGNALS.items():
        if holds[signal]:
            found = verdict.evidence.get(signal)
            where = " ".join(filter(None, (found.where, found.text))) if found else ""
            say(f"    [green]has[/] {what}: {{where}}", where=where)
        else:
            say(f"  [red]lacks[/] {what}")
    said = facts_as_dict(page.facts).items()
    if facts := [f"{name}: {value}" for name, value in said if isinstance(value, str)]:
        say("    {facts}", facts="  ".join(facts))


def _read(name: str) -> bytes:
    """A file's bytes, unzipped, but never more than a page may have."""
    limit = DEFAULT_MAX_BYTES + 1
    if name == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "standard input is closed")
        data = sys.stdin.buffer.read(limit)
    else:
        with Path(name).open("rb") as file:
            data = file.read(limit)
    if not data.startswith(GZIP):
        return data
    unpacking = zlib.decompressobj(GZIP_WINDOW)
    page = unpacking.decompress(data, limit)
    if not unpacking.eof and len(page) < limit:
        raise zlib.error("it breaks off")
    return page
