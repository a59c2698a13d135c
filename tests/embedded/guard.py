"""Run one server for as long as the process that asked for it lives, whatever ends that process.

Run by path: `python guard.py '{"command": […], "user": null, "folder": "…"}'`. It prints the server's
process id, and stops the server when its standard input closes. A folder whose owner died is removed.
"""

from __future__ import annotations

import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
from typing import Any

LOOK_SECONDS = 0.5
STOP_SECONDS = 10.0


def main() -> None:
    """Start the server, watch over both sides, stop what is left."""
    order = json.loads(sys.argv[1])
    parent = os.getppid()
    for survived in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A handler, unlike SIG_IGN, is not inherited by the server.
        signal.signal(survived, lambda *_: None)
    server = subprocess.Popen(
        order["command"],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        stderr=subprocess.STDOUT,
        **_as_user(order["user"]),
    )
    sys.stdout.write(f"{server.pid}\n")
    sys.stdout.flush()
    while server.poll() is None and not _is_dismissed(parent):
        pass
    _stop(server)
    if os.getppid() != parent:
        shutil.rmtree(order["folder"], ignore_errors=True)


def _is_dismissed(parent: int) -> bool:
    # A process forked from the parent may keep the pipe open, so the parent is looked at as well.
    readable, _, _ = select.select([sys.stdin], [], [], LOOK_SECONDS)
    return bool(readable) or os.getppid() != parent


def _stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is not None:
        return
    server.send_signal(signal.SIGINT)
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _as_user(name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}


if __name__ == "__main__":
    main()
