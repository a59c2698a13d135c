"""What may stand behind `python -m bench.NAME`: the parts to measure, all of them where none is named."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def parser_of(bench: str, parts: Iterable[str]) -> ArgumentParser:
    """Reads `parts`, refuses names that there are not, and has `--help`."""
    known = list(parts)

    def part(word: str) -> str:
        if word not in known:
            raise ArgumentTypeError(f"there is no {word!r}, but {', '.join(known)}")
        return word

    parser = ArgumentParser(prog=f"python -m bench.{bench}")
    parser.add_argument(
        "parts",
        nargs="*",
        type=part,
        default=known,
        metavar="PART",
        help=f"{', '.join(known)}; without any, all",
    )
    return parser
