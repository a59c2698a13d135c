"""Which process holds a lock, and whether it is gone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crawler.access.process import (
    Holder,
    holder_of,
    is_gone,
    is_ours,
    new_token,
    this_process,
)

MARK = "from crawler.access.process import this_process; print(this_process(), flush=True); input()"


def test_ended_process_is_gone() -> None:
    """First it runs, then it is an unburied child, then it is no more."""
    with subprocess.Popen(
        [sys.executable, "-c", MARK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        mark = child.stdout.readline().strip()
        assert not is_gone(mark)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(mark)
    assert is_gone(mark)


def this_but(**other: str) -> str:
    """The mark of this process, with other fields."""
    names = ("host", "boot", "namespace", "pid", "started")
    return "|".join({**dict(zip(names, this_process().split("|"), strict=True)), **other}.values())


@pytest.mark.skipif(this_process().endswith("|"), reason="this system does not tell when a process started")
def test_reused_process_id_is_gone() -> None:
    """A process that began at another time is another process, whatever its number."""
    assert is_gone(this_but(started="1"))


@pytest.mark.parametrize("field", ["host", "boot", "namespace"])
def test_process_elsewhere_is_not_judged(field: str) -> None:
    """Of another machine, boot or container we cannot know; its lock expires by itself."""
    assert is_gone(this_but(pid=str(2**22 - 1)))
    assert not is_gone(this_but(pid=str(2**22 - 1), **{field: "elsewhere"}))


@pytest.mark.parametrize("text", [None, "", "host|boot|1|x|2", "a|b|c"])
def test_unreadable_mark_is_not_judged(text: str | None) -> None:
    """What names no process is nobody's end."""
    assert not is_gone(text)


def test_holder_is_read_from_the_value() -> None:
    """An operator sees host, process and session behind a lock."""
    token = new_token("5c1e")
    host, _, _, pid, _ = this_process().split("|")
    assert is_ours(token)
    assert holder_of(token) == Holder(host, int(pid), "5c1e")
    assert holder_of("vitrine:shop-1:4711:b00t-99:5c1e:n0nce") == Holder("shop-1", 4711, "5c1e")
