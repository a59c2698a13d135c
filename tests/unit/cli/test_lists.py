"""What all lists have in common: their options, and what they answer where there is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

from crawler.cli.app import complete_app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.cli.conftest import Vitrine

# Each list, its name in the JSON document, and the next step that it tells where it is empty.
EMPTY = [
    ("sessions list", "sessions", "vitrine crawl pdp"),
    ("pages list", "pages", "vitrine crawl pdp"),
    ("artifacts list", "artifacts", "vitrine crawl pdp"),
    ("runs list", "runs", "vitrine crawl site"),
    ("domains list", "domains", "no domain is held"),
    ("assets list", "assets", ""),
    ("exceptions list", "exceptions", ""),
    ("hauls list", "hauls", ""),
    ("products list", "products", ""),
    ("listings list", "listings", ""),
    ("prices list", "prices", ""),
    ("jobs list", "jobs", ""),
    ("snapshots list", "snapshots", ""),
    ("changes list", "changes", "vitrine changes compute"),
    ("warcs list", "files", ""),
    ("retention holds", "holds", ""),
]
# A list of what is so now: there is nothing to be cut by days.
WITHOUT_DAYS = WITHOUT_DOMAIN = {"domains list"}


@pytest.mark.parametrize(("line", "name", "hint"), EMPTY, ids=[each[0] for each in EMPTY])
@pytest.mark.usefixtures("made")
def test_an_empty_list_is_an_error_only_with_fail_empty(
    vitrine: Vitrine, line: str, name: str, hint: str
) -> None:
    """People read the next step beside the data; a program gets an empty list."""
    done = vitrine(*line.split())
    assert (done.code, done.out, hint in done.err) == (0, "", True)
    assert vitrine(*line.split(), "--json").document[name] == []
    failed = vitrine(*line.split(), "--jsonl", "--fail-empty")
    assert (failed.code, failed.out) == (4, "")


def lists() -> Iterator[tuple[str, set[str]]]:
    """Each command that lists, and the options that it takes."""
    for name, group in get_command(complete_app()).commands.items():  # type: ignore[attr-defined]
        for each, command in getattr(group, "commands", {}).items():
            if each in {"list", "holds"}:
                yield f"{name} {each}", {option for one in command.params for option in one.opts}


def test_every_list_takes_the_same_options() -> None:
    """For machines by line, cut by domain and days, page by page, and a code where nothing matches."""
    found = dict(lists())
    assert len(found) >= 15
    for name, options in found.items():
        assert options >= {"--json", "--jsonl", "--fail-empty", "--after", "--limit"}, name
        assert options >= {"--since", "--until"} or name in WITHOUT_DAYS, name
        assert "--domain" in options or name in WITHOUT_DOMAIN, name
