"""How much memory a process may have that parses strangers' pages: the parser gives up, and not the machine.

What is in a page decides how often a parser copies its elements, and no look at its text tells for sure.
"""

from __future__ import annotations

import resource

READER_BYTES = 2 * 1024**3  # the largest honest page takes a quarter
WEB_BYTES = 4 * 1024**3  # which answers several at once, and parses one at a time


def bound_memory(most: int) -> None:
    """Have this process, and those that it starts, get no more than that, if they may have as much."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
