"""A plugin that fails costs its own assets of that page, and nothing else."""

from __future__ import annotations

import asyncio
import logging
import sys
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from crawler.catalogue.plugins import run_plugins
from crawler.catalogue.plugins.registry import MAX_MESSAGE_CHARS, MAX_RECORDS
from tests.unit.catalogue.plugins.made_up import URL, Plugin, page, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.catalogue.plugins import PluginPage

GOOD = Plugin("good", lambda _page: [record("1"), record("2")])
LAST = Plugin("last", lambda _page: (record("3"),))


class UnspeakableError(Exception):
    """Cannot say what it is."""

    def __str__(self) -> NoReturn:
        raise RuntimeError("no words")


class BadEnd:
    """An iterator that cannot even be left."""

    def __iter__(self) -> BadEnd:
        return self

    def __next__(self) -> NoReturn:
        raise StopIteration

    def close(self) -> NoReturn:
        """Fail."""
        raise ValueError("at the end")


def midway(error: BaseException) -> Any:
    """Assets that begin well."""

    def offers(_page: PluginPage) -> Iterator[Any]:
        yield record("never kept")
        raise error

    return offers


def at_once(error: BaseException) -> Any:
    """Something that raises when it is called."""

    def call(_page: PluginPage) -> NoReturn:
        raise error

    return call


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Plugin("broken", at_once(ValueError("no luck"))), "ValueError: no luck"),
        (Plugin("broken", midway(KeyError("price"))), "KeyError: 'price'"),
        (Plugin("broken", midway(SystemExit(3))), "SystemExit: 3"),
        (Plugin("broken", midway(GeneratorExit())), "GeneratorExit: "),
        (Plugin("broken", midway(asyncio.CancelledError())), "CancelledError: "),
        (Plugin("broken", midway(UnspeakableError())), "UnspeakableError: (it cannot be shown)"),
        (Plugin("broken", midway(MemoryError())), "MemoryError: "),
        (Plugin("broken", lambda _: sys.exit("enough")), "SystemExit: enough"),
        (Plugin("broken", lambda _: None), "TypeError: 'NoneType' object is not iterable"),  # type: ignore[arg-type, return-value]
        (Plugin("broken", lambda _: BadEnd()), "ValueError: at the end"),
        (Plugin("broken", lambda _: [], at_once(RecursionError("deep"))), "RecursionError: deep"),
    ],
)
def test_an_exception_costs_only_its_plugin(broken: Plugin, message: str) -> None:
    """The plugins before and after it are asked, and what it had found already is not kept."""
    found, [failure] = run_plugins([GOOD, broken, LAST], page())
    assert [(name, each.key) for name, each in found] == [("good", "1"), ("good", "2"), ("last", "3")]
    assert (failure.plugin, failure.message) == ("broken", message)
    assert ".py:" in failure.context["at"]


def test_it_is_told_where_it_happened(caplog: pytest.LogCaptureFixture) -> None:
    """The failure has the line; the log has the URL, and the traceback where one looks closely."""
    broken = Plugin("broken", midway(ValueError("x" * 10_000)))
    with caplog.at_level(logging.INFO):
        _, [failure] = run_plugins([broken], page())
    assert failure.context["at"].startswith("plugins/test_running.py:")
    assert failure.context["at"].endswith(" in offers")
    assert len(failure.message) == MAX_MESSAGE_CHARS
    [line] = caplog.records
    assert (line.msg, line.exc_info) == ("plugin.failed", None)
    assert vars(line)["fields"]["url"] == URL
    with caplog.at_level(logging.DEBUG):
        run_plugins([broken], page())
    assert caplog.records[-1].exc_info


def test_an_interruption_gets_out() -> None:
    """Whoever presses Ctrl-C means the crawl."""
    with pytest.raises(KeyboardInterrupt):
        run_plugins([Plugin("any", midway(KeyboardInterrupt()))], page())


def test_a_bad_record_costs_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    """The good ones beside it are kept; those that are wrong in one way are told together."""
    offers = [
        record("1"), record("2", content={"a": float("nan")}), None, record("3"),
        record("4", content={"a": float("inf")}), record("https://me:secret@a.example", title="\x00"),
    ]  # fmt: skip
    found, failures = run_plugins([Plugin("mixed", lambda _: offers), LAST], page())
    assert [each.key for _, each in found] == ["1", "3", "3"]
    told = {failure.message.partition(",")[0]: failure.context for failure in failures}
    assert told == {
        "a number is NaN": {"records": 2, "first": "'2'"},
        "a NoneType is no AssetRecord": {"records": 1},
        "a text has a NUL character": {"records": 1, "first": "'https://me:***@a.example'"},
    }
    assert [line.msg for line in caplog.records] == ["plugin.bad_record"] * 3
    assert "secret" not in caplog.text


def test_a_plugin_without_an_end_is_stopped() -> None:
    """What it said up to then is kept, and the rest is told."""
    left: list[str] = []

    def offers(_page: PluginPage) -> Iterator[Any]:
        try:
            yield from (record(str(number)) for number in count())
        finally:
            left.append("left")

    found, [failure] = run_plugins([Plugin("endless", offers), LAST], page())
    assert (len(found), found[-1][0], left) == (MAX_RECORDS + 1, "last", ["left"])
    assert failure.message.startswith(f"more than {MAX_RECORDS} records")


def test_a_plugin_is_asked_only_where_it_says_so() -> None:
    """Nothing is found and nothing fails otherwise."""
    choosy = Plugin("choosy", at_once(ValueError()), lambda page: page.is_pdp)
    assert run_plugins([choosy], page()) == ([], [])
    assert len(run_plugins([choosy], page(verdict={"is_pdp": True}))[1]) == 1
