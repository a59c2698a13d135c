"""Which plugins there are (SPEC D90-93), and what happens when they look at a page."""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import EntryPoint, EntryPoints
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from attrs import frozen

from crawler.catalogue.plugins import PluginRegistry, run_plugins
from crawler.catalogue.plugins.registry import MAX_RECORDS
from crawler.errors import ConfigError
from crawler.pdp import Signals, Verdict
from crawler.runs.sources import PLUGIN_GROUP
from tests.unit.catalogue.plugins.made_up import Plugin, page, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.catalogue.plugins import PluginPage


BUILT_IN: tuple[str, ...] = ("page", "product", "media")


class Headings:
    """A plugin as a package has it: a class."""

    name = "headings"

    def supports(self, _page: object) -> bool:
        """Always."""
        return True

    def assets(self, _page: object) -> list[Any]:
        """One thing."""
        return [record()]


class Demanding(Headings):
    """Cannot be made without an argument."""

    name = "demanding"

    def __init__(self, something: str) -> None:
        self.something = something


class Half:
    """Looks at pages and finds nothing to say."""

    name = "half"
    supports = Headings.supports


@frozen
class Declared:
    """An entry point that loads what the test says."""

    name: str
    load: Callable[[], Any]


def loads(thing: Any) -> Declared:
    """An entry point of that object."""
    return Declared(getattr(thing, "__name__", "thing"), lambda: thing)


def fails(error: BaseException) -> Declared:
    """An entry point that cannot be loaded."""

    def load() -> NoReturn:
        raise error

    return Declared("failing", load)


@frozen
class Selectable:
    """Entry points as Python has them since 3.10."""

    groups: dict[str, list[Declared]]

    def select(self, *, group: str) -> list[Declared]:
        """Those of a group."""
        return self.groups[group]


def registry_with(*declared: Declared) -> PluginRegistry:
    """A registry that has loaded them."""
    registry = PluginRegistry()
    registry.load_entrypoints(lambda: Selectable({PLUGIN_GROUP: list(declared)}))
    return registry


def test_plugins_of_the_group_are_selected() -> None:
    """Where Python can select (D90); classes are made, objects are taken as they are."""
    registry = registry_with(loads(Headings), loads(Plugin("ready", lambda _: [])))
    assert registry.names == (*BUILT_IN, "headings", "ready")
    [headings] = registry.pick(["headings"])
    assert len(run_plugins([headings], page())[0]) == 1


def test_real_entry_points_are_loaded() -> None:
    """As the standard library gives them."""
    mine = EntryPoint("headings", f"{__name__}:Headings", PLUGIN_GROUP)
    gone = EntryPoint("gone", "no_such_module_here:Plugin", PLUGIN_GROUP)
    other = EntryPoint("other", f"{__name__}:Demanding", "other.group")
    registry = PluginRegistry()
    registry.load_entrypoints(lambda: EntryPoints([gone, mine, other]))
    assert registry.names == (*BUILT_IN, "headings")
    registry.load_entrypoints()


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (fails(ImportError("no module")), "ImportError: no module"),
        (fails(SystemExit(1)), "SystemExit: 1"),
        (loads(Demanding), "TypeError: "),
        (loads(sys), "BadPluginError: its name is not"),
        (loads(Plugin("two words", lambda _: [])), "BadPluginError: its name is not"),
        (loads(Half), "BadPluginError: half has no"),
    ],
)  # fmt: skip
def test_one_that_does_not_load_is_skipped(
    broken: Declared, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The others are there, and the log says why (D92)."""
    registry = registry_with(broken, loads(Headings))
    assert registry.names == (*BUILT_IN, "headings")
    [line] = [record for record in caplog.records if record.msg == "plugin.skipped"]
    assert vars(line)["fields"]["error"].startswith(reason)


def test_a_second_of_the_same_name_changes_nothing() -> None:
    """The first stays, and the built-in ones are first (D93)."""
    registry = registry_with(loads(Plugin("page", lambda _: [])), loads(Headings))
    [headings] = registry.pick(["headings"])
    assert registry.register(Headings()) is False
    assert registry.names == (*BUILT_IN, "headings")
    assert registry.pick(["headings"]) == [headings]
    assert len(run_plugins(registry.pick(["page"]), page())[0]) == 1


def test_a_source_gets_the_plugins_that_it_names() -> None:
    """Each once, in its order."""
    picked = PluginRegistry().pick(["media", "page", "media"])
    assert [plugin.name for plugin in picked] == ["media", "page"]
    assert PluginRegistry().pick([]) == []


def test_a_plugin_that_is_not_there_is_a_mistake_in_the_settings() -> None:
    """Told with what there is."""
    with pytest.raises(ConfigError, match="there is no plugin 'reviews', 'x'") as caught:
        PluginRegistry().pick(["page", "reviews", "x"])
    assert "page, product, media" in caught.value.hint
    assert caught.value.exit_code == 2


def test_a_name_cannot_change_later() -> None:
    """Assets stay with the name that the plugin was registered under."""
    plugin = type("Changing", (Headings,), {"name": "first"})()
    registry = PluginRegistry()
    registry.register(plugin)
    plugin.name = "second"
    [(name, _)] = run_plugins(registry.pick(["first"]), page())[0]
    assert name == "first"


# ── plugins look at a page ──


GOOD = Plugin("good", lambda _page: [record("1"), record("2")])
LAST = Plugin("last", lambda _page: (record("3"),))


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
        (Plugin("broken", midway(SystemExit(3))), "SystemExit: 3"),
        (Plugin("broken", midway(asyncio.CancelledError())), "CancelledError: "),
        (Plugin("broken", lambda _: None), "TypeError: 'NoneType' object is not iterable"),  # type: ignore[arg-type, return-value]
        (Plugin("broken", lambda _: [], at_once(RecursionError("deep"))), "RecursionError: deep"),
    ],
)
def test_an_exception_costs_only_its_plugin(broken: Plugin, message: str) -> None:
    """The plugins before and after it are asked, and what it had found already is not kept."""
    found, [failure] = run_plugins([GOOD, broken, LAST], page())
    assert [(name, each.key) for name, each in found] == [("good", "1"), ("good", "2"), ("last", "3")]
    assert (failure.plugin, failure.message) == ("broken", message)
    assert ".py:" in failure.context["at"]


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
    assert len(run_plugins([choosy], page(verdict=Verdict("v1.2", is_pdp=True, signals=Signals())))[1]) == 1


def test_a_dict_of_groups_is_understood() -> None:
    """Where Python cannot select (D91), with and without our group."""
    registry = PluginRegistry()
    registry.load_entrypoints(lambda: {"other": [loads(Demanding)]})
    assert registry.names == BUILT_IN
    registry.load_entrypoints(lambda: {PLUGIN_GROUP: [loads(Headings)], "other": [loads(Demanding)]})
    assert registry.names == (*BUILT_IN, "headings")


def test_plugins_that_cannot_be_listed_are_none(caplog: pytest.LogCaptureFixture) -> None:
    """The built-in ones go on (D93)."""

    def listed() -> NoReturn:
        raise OSError("the metadata cannot be read")

    registry = PluginRegistry()
    registry.load_entrypoints(listed)
    assert registry.names == BUILT_IN
    assert "plugins.not_listed" in caplog.text
