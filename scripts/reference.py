"""`python -m scripts.reference`: write the tables of docs/ anew, from the code that they describe."""

from __future__ import annotations

from crawler import interrupts

if __name__ == "__main__":
    interrupts.end_at_once()

import argparse
import re
import sys
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a file it knows its own folder alone

import crawler
from crawler.config import setting_docs
from crawler.errors import CrawlerError
from scripts.data_reference import tables as data_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- from the code: {} -->", "<!-- end of {} -->"
# Running these starts something.
NOT_IMPORTED = ("__main__", ".migrations.")
_ADDRESS = re.compile(r"\w+://[^\s,)]*|[\d.]+/\d+|mailto:")


def main() -> None:
    """Rewrite every file that differs from the code, and name it."""
    argparse.ArgumentParser(prog="python -m scripts.reference", description=__doc__).parse_args()
    for path, text in expected().items():
        if (path.read_text(encoding="utf-8") if path.exists() else "") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")


def expected() -> dict[Path, str]:
    """The files that hold tables, as the code would have them."""
    texts = {ROOT / ".env.example": example_environment()}
    for name, tables in PAGES.items():
        path = ROOT / "docs" / name
        text = path.read_text(encoding="utf-8")
        for table, lines in tables.items():
            text = _with_table(text, table, "\n".join(lines()))
        texts[path] = text
    return texts


def settings_table() -> Iterator[str]:
    """A line for each variable."""
    yield from _head("variable", "takes", "default", "what it does")
    for doc in setting_docs():
        default = f"`{doc.default}`" if doc.default else "empty"
        yield _row(f"`{doc.name}`", _coded(doc.takes), default, doc.about)


def example_environment() -> str:
    """A `.env` that says nothing, and shows how each variable would be said."""
    lines = [
        "# Copy this to .env and say what differs; docs/settings.md explains each line.",
        "# The environment wins over this file.",
    ]
    for doc in setting_docs():
        about = doc.about.replace("`", "")
        lines += ["", f"# {about}", f"# {doc.name}={doc.default}"]
    return "\n".join(lines) + "\n"


def commands_reference() -> Iterator[str]:
    """A section for each command: what it does, how it is called, what it takes."""
    # Typer stays with the command line; this is a reader of it.
    from typer.main import get_command  # ruff: ignore[import-outside-top-level] - see above

    from crawler.cli.app import complete_app  # ruff: ignore[import-outside-top-level] - the same

    for words, command in _leaves(get_command(complete_app()), ()):
        yield from _command_section(" ".join(("vitrine", *words)), command)


def errors_table() -> Iterator[str]:
    """A line for each code that an error may carry."""
    yield from _head("code", "exit", "meaning")
    for module in walk_packages(crawler.__path__, "crawler."):
        if not any(part in module.name for part in NOT_IMPORTED):
            import_module(module.name)
    # Of two with one code the more general one explains it, whichever was imported first.
    kinds = sorted(_kinds_below(CrawlerError), key=lambda kind: len(kind.__mro__), reverse=True)
    known = {kind.code: kind for kind in kinds}
    for code, kind in sorted(known.items()):
        yield _row(f"`{code}`", str(kind.exit_code), (kind.__doc__ or "").splitlines()[0])


def data_reference() -> Iterator[str]:
    """A section for each table, with a line for each column."""
    for name, about, columns in data_tables():
        yield from (f"### {name}", "", about, "")
        yield from _head("column", "type", "what it says")
        for column, kind, what in columns:
            yield _row(f"`{column}`", kind, what)
        yield ""


PAGES: dict[str, dict[str, Callable[[], Iterator[str]]]] = {
    "settings.md": {"settings": settings_table},
    "data.md": {"tables": data_reference},
    "commands.md": {"commands": commands_reference, "errors": errors_table},
}


def _with_table(text: str, table: str, lines: str) -> str:
    begin, end = BEGIN.format(table), END.format(table)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the page needs one line {begin!r} and one line {end!r}")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n\n{lines}\n\n{end}{rest.partition(end)[2]}"


def _leaves(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The commands that do something, with the words that call them."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
        return
    for name, below in inner.items():
        yield from _leaves(below, (*words, name))


def _command_section(name: str, command: Any) -> Iterator[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join([name, *map(_argument, arguments), *(["[OPTIONS]"] if options else [])])
    about, _, examples = (command.help or "").partition("Examples:")
    yield from (f"### {name}", "", "```", usage, "```", "", " ".join(about.split()), "")
    if options or any(argument.help for argument in arguments):
        yield from _head("takes", "default", "what it does")
        for argument in arguments:
            yield _row(f"`{_argument(argument)}`", "", argument.help or "")
        for option in options:
            yield _row(f"`{_option(option)}`", _default(option), _option_about(option))
        yield ""
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    if lines:
        yield from ("```", *lines, "```", "")


def _argument(argument: Any) -> str:
    shown: str = argument.metavar or argument.name.upper()
    return shown if argument.required or shown.startswith("[") else f"[{shown}]"


def _option(option: Any) -> str:
    names = ", ".join(option.opts)
    if option.is_flag:
        return names
    return f"{names} {option.metavar or option.name.upper()}"


def _option_about(option: Any) -> str:
    """What it does, and which words it takes where these are few."""
    kind = option.type_descriptor.annotation
    choices = list(kind) if isinstance(kind, type) and issubclass(kind, Enum) and not option.metavar else []
    takes = "One of " + ", ".join(f"`{choice.value}`" for choice in choices) + "." if choices else ""
    return " ".join(part for part in (option.help or "", takes) if part)


def _default(option: Any) -> str:
    return "" if option.is_flag or option.default in {None, ""} else f"`{option.default}`"


def _kinds_below(kind: type[CrawlerError]) -> Iterator[type[CrawlerError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from _kinds_below(below)


def _head(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _coded(text: str) -> str:
    """Addresses read as code; their placeholders would be taken for markup."""
    return _ADDRESS.sub(r"`\g<0>`", text)


if __name__ == "__main__":
    sys.exit(interrupts.run(main))
