"""The process that reads pages: its standard input is a socket, for questions and answers.

It ends with its input, so it never outlives the crawl that started it, however that dies.
"""

from __future__ import annotations

import os
import pickle  # ruff: ignore[suspicious-pickle-import] - between us and our own parent
import socket
import sys
from contextlib import suppress
from typing import Any

from crawler.html.content import ContentQuestion, content_of
from crawler.reading.bounds import READER_BYTES, bound_memory
from crawler.reading.process import LENGTH


def main() -> None:
    """Answer until there are no more questions; what else this machine does may come first."""
    os.nice(int(sys.argv[1]))
    bound_memory(READER_BYTES)
    parent = socket.socket(fileno=os.dup(sys.stdin.fileno()))
    # What a library prints must not get between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with parent, parent.makefile("rb") as questions, suppress(ConnectionError):  # nobody waits any more
        while len(head := questions.read(LENGTH.size)) == LENGTH.size:
            question = pickle.loads(questions.read(LENGTH.unpack(head)[0]))  # ruff: ignore[suspicious-pickle-usage] - from our own parent
            answer = pickle.dumps(_answer(question), pickle.HIGHEST_PROTOCOL)
            parent.sendall(LENGTH.pack(len(answer)) + answer)


def _answer(question: Any) -> Any:
    """What was found: of one page, or of several that were sent together."""
    if isinstance(question, ContentQuestion):
        return content_of(question)
    if isinstance(question, list):
        return [content_of(each) for each in question]
    from crawler.pdp import reading_of  # ruff: ignore[import-outside-top-level] - who indexes needs no rule

    return reading_of(question)


if __name__ == "__main__":
    main()
