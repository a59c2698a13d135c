"""What is left undone while a crawl runs, and only then."""

from __future__ import annotations

import ctypes
import gc
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from crawler.extensions.lean import TALKERS, Lean
from tests.unit.components import crawl_parts

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def usual_collector() -> Iterator[None]:
    """As an interpreter begins; the test process has frozen what it had loaded, and looks less often."""
    before = gc.get_threshold()
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)
    yield
    gc.freeze()
    gc.set_threshold(*before)


@pytest.fixture
def usual_levels() -> Iterator[None]:
    """Loggers are as they were, however a test ends."""
    before = {name: logging.getLogger(name).level for name in TALKERS}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.usefixtures("usual_collector", "usual_levels")
def test_what_was_loaded_is_not_looked_through_for_garbage() -> None:
    """While pages are fetched; whoever crawls more than once in a process gets the collector back."""
    before = gc.get_threshold(), gc.get_freeze_count()
    lean = crawl_parts().make(Lean)
    lean.engine_started()
    assert gc.get_freeze_count() > before[1]
    assert gc.get_threshold() > before[0]
    lean.engine_stopped()
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


@pytest.mark.usefixtures("usual_levels")
@pytest.mark.parametrize(
    ("levels", "is_made"), [(["DEBUG"], True), (["INFO"], False), (["INFO", "DEBUG"], True)]
)
def test_lines_that_nobody_sees_are_not_made(
    monkeypatch: pytest.MonkeyPatch, levels: list[str], *, is_made: bool
) -> None:
    """Those are that a handler takes, Scrapy's or the user's."""
    handlers = [logging.NullHandler(level) for level in levels]
    monkeypatch.setattr(logging.root, "handlers", handlers)
    talker = logging.getLogger("scrapy.core.engine")
    logging.getLogger("scrapy").setLevel(logging.DEBUG)  # as Scrapy has it
    lean = crawl_parts().make(Lean)
    lean.engine_started()
    assert talker.isEnabledFor(logging.DEBUG) == is_made
    assert talker.isEnabledFor(logging.INFO)
    lean.engine_stopped()
    assert talker.isEnabledFor(logging.DEBUG)


def test_threads_share_one_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is glibc's to say; with another library a crawl begins all the same."""
    said: list[tuple[int, int]] = []
    libraries = iter([SimpleNamespace(mallopt=lambda *option: said.append(option)), SimpleNamespace()])
    monkeypatch.setattr(ctypes, "CDLL", lambda _: next(libraries))
    crawl_parts().make(Lean)
    crawl_parts().make(Lean)
    assert said == [(-8, 1)]
