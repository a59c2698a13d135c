"""`python -m tests.forks.surroundings [END]` says what a program finds when it begins; END is how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any


def main() -> None:
    """Say it, end."""
    end = sys.argv[1] if len(sys.argv) > 1 else "none"
    json.dump(_of_a_child() if end == "parent" else _found(), sys.stdout)
    if end == "raise":
        raise LookupError(end)
    if end == "warn":
        warnings.warn("said", stacklevel=1)
    if end == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    if end == "close":
        os.close(sys.stdout.fileno())
    sys.exit(int(end) if end.isdigit() else end if " " in end else None)


def _found() -> dict[str, Any]:
    streams = (sys.stdin, sys.stdout, sys.stderr)
    return {
        "arguments": sys.argv,
        "environment": dict(os.environ),
        "files": sorted(number for number in _open_files() if _is_handed_on(number)),
        "folder": str(Path.cwd()),
        "ignored": [each for each in signal.valid_signals() if signal.getsignal(each) is signal.SIG_IGN],
        "interrupt": str(signal.getsignal(signal.SIGINT)),
        "leads": (os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()),
        "loaded": "scrapy" in sys.modules,
        "module": (__name__, __spec__.name),
        "parent": os.getppid(),
        "path": sys.path,
        "read": sys.stdin.read(),
        "streams": [
            (
                each.name,
                each.encoding,
                each.errors,
                each.line_buffering,
                str(each),
                str(type(each.buffer)),
            )
            for each in streams
        ],
        "umask": os.umask(0),
        "warnings": sys.warnoptions,
    }


def _open_files() -> set[int]:
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir()}


def _is_handed_on(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:
        return False


def _of_a_child() -> dict[str, Any]:
    """What a process says that this one starts."""
    command = [sys.executable, "-m", "tests.forks.surroundings"]
    done = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    return {**json.loads(done.stdout), "grandparent": os.getppid()}


if __name__ == "__main__":
    main()
