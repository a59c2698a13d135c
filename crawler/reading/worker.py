"""The process that reads pages: questions come in on its standard input, answers go out.

It ends with its input, so it never outlives the crawl that started it, however that dies.
"""

from __future__ import annotations

import os
import pickle  # ruff: ignore[suspicious-pickle-import] - between us and our own parent
import sys
from contextlib import suppress
from typing import BinaryIO

from crawler.pdp import reading_of
from crawler.reading.readers import LENGTH


def main() -> None:
    """Answer until there are no more questions."""
    # What a library prints must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppress(BrokenPipeError):  # nobody waits for the answer any more
        _answer(answers)


def _answer(answers: BinaryIO) -> None:
    while (question := _next(sys.stdin.buffer)) is not None:
        answer = pickle.dumps(reading_of(pickle.loads(question)), pickle.HIGHEST_PROTOCOL)  # ruff: ignore[suspicious-pickle-usage] - from our own parent
        answers.write(LENGTH.pack(len(answer)) + answer)
        answers.flush()


def _next(stream: BinaryIO) -> bytes | None:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return stream.read(LENGTH.unpack(head)[0])


if __name__ == "__main__":
    main()
