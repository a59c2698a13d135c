"""The process in which plugins of other packages look at pages: its standard input is a socket.

It ends with its input; one that hangs then is ended by the system when its time is over.
"""

from __future__ import annotations

import json
import logging
import os
import pickle  # ruff: ignore[suspicious-pickle-import] - between us and our own parent
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import asdict

from crawler.catalogue.plugins.registry import installed, run_plugins
from crawler.reading.process import LENGTH

if TYPE_CHECKING:
    from crawler.catalogue.plugins.api import AssetPlugin, PluginPage

GRACE_SECONDS = 5.0  # which the crawl has for ending this process itself


def main() -> None:
    """Load the plugins that the first question names, then answer until there are no more questions."""
    parent = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    # What a plugin prints must not get between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    # The crawl logs what comes of a page.
    logging.getLogger("crawler.catalogue.plugins.registry").setLevel(logging.CRITICAL)
    plugins: dict[str, AssetPlugin] = {}
    with parent, parent.makefile("rb") as questions, suppress(ConnectionError):  # nobody waits any more
        while len(head := questions.read(LENGTH.size)) == LENGTH.size:
            question = pickle.loads(questions.read(LENGTH.unpack(head)[0]))  # ruff: ignore[suspicious-pickle-usage] - from our own parent
            if isinstance(question, list):
                plugins = {each.name: each for each in installed(question)}
                answer: dict[str, Any] = {}
            else:
                answer = _look(plugins, *question)
            data = json.dumps(answer).encode()
            parent.sendall(LENGTH.pack(len(data)) + data)


def _look(
    plugins: dict[str, AssetPlugin], name: str, page: PluginPage, limit_seconds: float
) -> dict[str, Any]:
    """Return what a plugin finds in a page, and what goes wrong, as JSON."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # which needs no interpreter
    signal.setitimer(signal.ITIMER_REAL, limit_seconds + GRACE_SECONDS)
    found, failures = run_plugins([plugins[name]], page)
    signal.setitimer(signal.ITIMER_REAL, 0)
    failed = [asdict(each) for each in failures]
    for each in failed:
        del each["plugin"]
    return {"found": [_as_json(record) for _, record in found], "failures": failed}


def _as_json(record: Any) -> dict[str, Any]:
    names = ("kind", "key", "url", "title", "content", "details")
    return {name: getattr(record, name) for name in names}


if __name__ == "__main__":
    main()
