"""A bound on memory: what wants more gets an error, and what comes after it goes on."""

from __future__ import annotations

import resource
from multiprocessing import get_context
from typing import TYPE_CHECKING

from crawler.archive.rewriting import Place, shown_page
from crawler.reading.bounds import bound_memory
from tests.unit.reading.test_readers import BOMB, PAGE

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

HERE = Place("https://shop.example/", "20260101000000")
ENOUGH = 400 * 1024 * 1024


def show(told: Connection) -> None:
    """Show a page that wants all memory, and another one, within a bound."""
    bound_memory(ENOUGH)
    problem = shown_page(BOMB, "text/html", HERE).problem
    told.send((problem, shown_page(PAGE, "text/html", HERE).body, resource.getrlimit(resource.RLIMIT_DATA)))


def test_a_page_that_wants_all_memory_is_not_shown() -> None:
    """Where the web side parses it, nobody else's page is lost for it."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=show, args=(theirs,))
    process.start()
    theirs.close()
    problem, page, (soft, _) = ours.recv()
    process.join()
    assert (problem, soft) == ("too_large", ENOUGH)
    assert b"Jug" in page
