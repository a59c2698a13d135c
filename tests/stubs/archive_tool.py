"""A stub of the archive tool, and of anything that takes its flags: it speaks the contract, or does not.

What it does is said by the file that STUB_PLAN names: JSON, a list with one word for each start (the last one
stays). Each start and each end is a line of the file that STUB_LOG names.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

LOG = Path(os.environ["STUB_LOG"])
STATISTICS = {
    "timestamp": "2026-01-01T00:00:00Z", "logLevel": "info", "context": "crawlStatus",
    "message": "Crawl statistics", "details": {"crawled": 7, "total": 9, "pending": 0, "failed": 2},
}  # fmt: skip


def note(word: str) -> None:
    """One line, whole."""
    name = sys.argv[sys.argv.index("--name") + 1] if "--name" in sys.argv else "?"
    line = json.dumps(
        {"word": word, "pid": os.getpid(), "name": name, "at": time.time(), "arguments": sys.argv[1:],
         "job": os.environ.get("VITRINE_JOB")}
    )  # fmt: skip
    descriptor = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, line.encode() + b"\n")
    os.close(descriptor)


def say(text: str) -> None:
    """On standard output, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def output() -> Path:
    """The archive's folder."""
    return Path(sys.argv[sys.argv.index("--output-dir") + 1])


def order() -> list[str]:
    """What this start is to do: words with a colon between."""
    plan = json.loads(os.environ.get("STUB_PLAN", '["ok"]'))
    started = (
        sum('"word": "start"' in line for line in LOG.read_text(encoding="utf-8").splitlines())
        if LOG.exists()
        else 0
    )
    return str(plan[min(started - 1, len(plan) - 1)]).split(":")


def main() -> int:
    """Do as ordered; the exit code is the number that the order ends with, or 0."""
    if "--help" in sys.argv:
        say("usage: a stub")
        return 0
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until it is known who is deaf
    note("start")
    word, *more = order()
    signal.signal(signal.SIGTERM, signal.SIG_IGN if word == "deaf" else stopped)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    code = BEHAVIOURS[word](*more)
    note("end")
    return code


def stopped(_number: int, _frame: object) -> None:
    """As a well-behaved program."""
    note("end")
    sys.exit(130)


def ok() -> int:
    """An archive with one WARC file."""
    folder = output() / "warcs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.warc.gz").write_bytes(b"a" * 100)
    say(json.dumps(STATISTICS))
    return 0


def fail(code: str = "1") -> int:
    """A crawl that failed."""
    say("error: it did not work, see https://me:secret@shop.example/")
    return int(code)


def silence(seconds: str = "600") -> int:
    """Not a word for so long; one that is `deaf` does not end sooner either when it is asked to."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        time.sleep(0.05)
    return 0


def fork(seconds: str = "600") -> int:
    """A grandchild in a session of its own, which ignores every signal that can be ignored."""
    code = (
        "import os,signal,sys,time\n"
        "os.setsid()\n"
        "for n in (1,2,15): signal.signal(n, signal.SIG_IGN)\n"
        "open(sys.argv[1],'w').write(str(os.getpid()))\n"
        f"time.sleep({float(seconds)})\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(LOG) + ".grandchild"])
    del child
    while not Path(str(LOG) + ".grandchild").exists():
        time.sleep(0.01)
    return silence(seconds)


def flood(megabytes: str = "10") -> int:
    """One line that is too long, and what no terminal should get."""
    sys.stdout.buffer.write(b"x" * (int(megabytes) << 20) + b"\n\x1b[2J\x00\xff\xfe\n")
    sys.stdout.buffer.write(b'{"a":' * 100_000 + b"\n")
    sys.stdout.flush()
    fake = dict(STATISTICS, context="pageConsole", details={"crawled": 10**6, "total": 1, "failed": 0})
    say(json.dumps(STATISTICS))
    say(json.dumps(fake))
    say("console: " + json.dumps(dict(STATISTICS, details={"crawled": 10**6})))
    return 0


def slow(seconds: str = "0.3") -> int:
    """Some work."""
    time.sleep(float(seconds))
    return ok()


BEHAVIOURS = {
    "ok": ok, "fail": fail, "silence": silence, "deaf": silence, "fork": fork, "flood": flood, "slow": slow,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
