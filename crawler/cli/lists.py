"""What every `list` command takes and does, so that each states only what is its own."""

from __future__ import annotations

import sys
from functools import wraps
from inspect import Parameter, Signature, signature
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_type_hints

from attrs import field, frozen

from crawler.cli.options import After, FailEmpty, InDomain, Json, JsonLines, Limit, Since, Until, wanted_of
from crawler.cli.output import show_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crawler.cli.output import Listing

_OF_ROWS = {"domain": InDomain, "since": Since, "until": Until, "after": After}


@frozen
class Found:
    """What a list found, where there is more to say of it than its documents."""

    documents: Sequence[Any]
    beside: Mapping[str, Any] = field(factory=dict)  # in the JSON document
    is_whole: bool = False  # nothing comes behind it, whatever the limit


def list_command(
    kind: Listing, *, cause: Any = None, limit: int = 50, limits: Any = Limit
) -> Callable[[Callable[..., Sequence[Any] | Found]], Callable[..., int]]:
    """Make a command of a question, which takes what is `Wanted` and its own options and finds documents.

    Behind its own, the command takes the options of every list (`--cause` where its type is given), and shows
    what was found as every list does.
    """
    of_rows = ({} if cause is None else {"cause": cause}) | _OF_ROWS
    common = list(_common(of_rows, limit, limits))

    def command_of(ask: Callable[..., Sequence[Any] | Found]) -> Callable[..., int]:
        @wraps(ask)
        def command(*, limit: int, as_json: bool, as_jsonl: bool, fail_empty: bool, **options: Any) -> int:
            wanted = wanted_of(**{name: options.pop(name) for name in of_rows}, limit=limit)
            answer = ask(wanted, **options)
            found = answer if isinstance(answer, Found) else Found(answer)
            return show_list(
                kind, found.documents, as_json=as_json, as_jsonl=as_jsonl, fail_empty=fail_empty,
                limit=None if found.is_whole else limit, **found.beside,
            )  # fmt: skip

        parameters = [*_own(ask), *common]
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # this is what Typer reads
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return command_of


def _common(of_rows: Mapping[str, Any], limit: int, limits: Any) -> Iterator[Parameter]:
    """The options of every list, in their order."""
    options = [(name, its_type, None) for name, its_type in of_rows.items()]
    forms = [("as_json", Json, False), ("as_jsonl", JsonLines, False), ("fail_empty", FailEmpty, False)]
    for name, its_type, default in [*options, ("limit", limits, limit), *forms]:
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=its_type)


def _own(ask: Callable[..., Any]) -> list[Parameter]:
    """A question's own options with their types; what it begins with and returns is no matter of Typer's."""
    _, *own = signature(ask).parameters.values()
    written = SimpleNamespace(__annotations__={each.name: each.annotation for each in own})
    types = get_type_hints(written, vars(sys.modules[ask.__module__]), include_extras=True)
    return [each.replace(annotation=types[each.name]) for each in own]
