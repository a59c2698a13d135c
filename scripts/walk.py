"""`python -m scripts.walk`: the way of one page and of one task through the files, counted from a trace.

Two real crawls of the demo shop, offline, each in a home of its own (SQLite, a folder, the local gate), with
every process of theirs traced (`scripts.walk_trace` says how calls are attributed):

- a page: `vitrine crawl pdp URL` from the shop's start page to its product page, `vitrine sessions show`, and
  once its date is over `vitrine cleanup`;
- a task: `vitrine crawl site URL` for one page, and `vitrine runs show`.

A *hop* is a call into another file of the package than the one that calls. It is *back* when that file was
entered before in the walk. A reader reads a repeated call once, so a pair of functions counts once in a walk;
neither links nor polling nor further processes inflate it. Returns do not count, nor do errors, clock, logs,
urls and config, and `pdp` is one file. Starting a process counts, importing modules does not; making the
tables does not either, as they are there already.

The count is the same each time: threads that only keep something alive are left out, the times of locks and
leases are far longer than a crawl, and how many hops are back does not depend on which of two processes came
first. Only the order of the lines may differ, where two processes or threads are at work.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a file it knows its own folder alone

from crawler import interrupts
from scripts import walk_trace

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "crawler"
SHOP = "plain"
LOOPBACK = "127.0.0.0/8"
MOST_REVISITED = 12  # files that are listed
SECONDS = 300  # the longest that a command may take, traced and beside others
# Renewals come at a part of these, and none is to fall into a crawl.
UNHURRIED = {"DOMAIN_LOCK_TTL_SECONDS": "86400", "TASK_LEASE_SECONDS": "3600"}


class WalkError(Exception):
    """There is no walk to be counted, and why."""


class Call(NamedTuple):
    """A call from one file into another, as the trace has it."""

    at: int  # by the clock that all processes share
    caller_file: str  # empty where the caller is no file of the package
    caller: str  # empty where a library called by itself
    file: str
    function: str


class Hop(NamedTuple):
    """A step of a walk."""

    call: Call
    is_back: bool


# ── counting ──


def calls_in(trace: str) -> list[Call]:
    """The calls of all processes, in the order of time."""
    return sorted(Call(*json.loads(line)) for line in trace.splitlines())


def hops_of(calls: Iterable[Call]) -> list[Hop]:
    """The calls that are read: each pair of functions once, and once what a library calls by itself."""
    hops, read, entered = [], set(), set()
    for call in calls:
        pair = (call.caller and call.caller_file, call.caller, call.file, call.function)
        if pair in read:
            continue
        read.add(pair)
        hops.append(Hop(call, call.file in entered))
        entered.add(call.file)
    return hops


def revisited(hops: Iterable[Hop]) -> list[tuple[str, int]]:
    """The files that are entered most often, with how often; those that are entered once are left out."""
    counts = Counter(hop.call.file for hop in hops)
    most = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(file, count) for file, count in most if count > 1][:MOST_REVISITED]


def last_line(page: Sequence[Hop], task: Sequence[Hop]) -> str:
    """Both counts, as a person compares them."""
    return ", ".join(
        f"{name} {len(hops)} hops {sum(hop.is_back for hop in hops)} back"
        for name, hops in (("page", page), ("task", task))
    )


def listing(title: str, hops: Sequence[Hop]) -> Iterator[str]:
    """A line for each step, and the files that one comes back to."""
    yield f"── {title} ──"
    width = max((len(hop.call.file) for hop in hops), default=0)
    for call, is_back in hops:
        said_by = (
            f"{call.caller_file or 'a library'}: {call.caller}" if call.caller else "a library, or a command"
        )
        yield f"{'<-' if is_back else '  '} {call.file:{width}}  {call.function}  (from {said_by})"
    yield ""
    yield f"{title}: entered most often"
    for file, count in revisited(hops):
        yield f"{count:4} {file}"
    yield ""


# ── crawling ──


class Home:
    """A folder with everything that a crawl keeps, and the commands at work in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trace = folder / "trace"
        self.trace.touch()
        (folder / "tracer").mkdir()
        shutil.copy(walk_trace.__file__, folder / "tracer" / "sitecustomize.py")

    def walk(self, *words: str) -> None:
        """Run a command, and have it leave its trace."""
        tracer = {
            "PYTHONPATH": os.pathsep.join((str(self.folder / "tracer"), str(ROOT))),
            walk_trace.PACKAGE: str(PACKAGE),
            walk_trace.TRACE: str(self.trace),
        }
        self._run(words, tracer)

    def ask(self, *words: str) -> Any:
        """The JSON that a command prints, untraced."""
        return json.loads(self.run(*words, "--json"))

    def run(self, *words: str) -> str:
        """What a command prints, untraced."""
        return self._run(words, {"PYTHONPATH": str(ROOT)})

    def _run(self, words: Sequence[str], extra: dict[str, str]) -> str:
        # Nothing of the operator's is inherited, and no .env lies in the folder.
        ours = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "VITRINE_HOME": str(self.folder)}
        command = [str(Path(sys.executable).with_name("vitrine")), *words]
        done = subprocess.run(
            command, env={**ours, "EGRESS_ALLOW": LOOPBACK, **UNHURRIED, **extra}, cwd=self.folder,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if done.returncode:
            raise WalkError(f"vitrine {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def let_expire(self) -> None:
        """Move every date on which something goes into the past."""
        with closing(sqlite3.connect(self.folder / "vitrine.db")) as db, db:
            for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
                if "retention_until" in columns:
                    past = "'2000' || substr(retention_until, 5)"
                    db.execute(f"UPDATE {table} SET retention_until = {past}")  # ruff: ignore[hardcoded-sql-expression] - the table's own name

    def hops(self) -> list[Hop]:
        """The walk of all that was traced."""
        found = hops_of(calls_in(self.trace.read_text(encoding="utf-8")))
        if not found:
            raise WalkError(f"no call in {PACKAGE} was traced")
        return found


def walk_of_a_page(url: str) -> list[Hop]:
    """From the URL on the command line to the deletion."""
    with _home() as home:
        home.walk("crawl", "pdp", url, "-s", "DOWNLOAD_DELAY=0")
        [session] = home.ask("sessions", "list")["sessions"]
        home.walk("sessions", "show", session["id"])
        home.let_expire()
        home.walk("cleanup")
        return home.hops()


def walk_of_a_task(url: str) -> list[Hop]:
    """From the command that plans it to the look back at its run."""
    with _home() as home:
        at_once = ("-s", "DOWNLOAD_DELAY=0", "-s", "TASK_JITTER_SECONDS=0")
        home.walk("crawl", "site", url, "--max-pages", "1", *at_once)
        [run] = home.ask("runs", "list")["runs"]
        home.walk("runs", "show", str(run["id"]))
        return home.hops()


@contextmanager
def _home() -> Generator[Home]:
    with TemporaryDirectory(prefix="walk-") as folder:
        home = Home(Path(folder))
        home.run("db", "upgrade")
        yield home


@contextmanager
def _shop() -> Generator[str]:
    """The start page of a shop that another process serves, untraced; the end of its input ends it."""
    command = [sys.executable, "-m", "crawler.demo", "--addressing", "addresses"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT) as demo:
        line = demo.stdout.readline() if demo.stdout else b""
        if not line:
            raise WalkError("the demo did not start; it says why on stderr")
        try:
            yield json.loads(line)["shops"][SHOP]
        finally:
            if demo.stdin:
                demo.stdin.close()


def main() -> int:
    """Walk both ways and tell them."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.walk", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--summary", action="store_true", help="only the last line")
    options = parser.parse_args()
    try:
        with _shop() as url:
            page, task = walk_of_a_page(url), walk_of_a_task(url)
    except WalkError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    if not options.summary:
        for title, hops in (("one page", page), ("one task", task)):
            print(*listing(title, hops), sep="\n")
    print(last_line(page, task))
    return 0


if __name__ == "__main__":
    sys.exit(interrupts.run(main))
