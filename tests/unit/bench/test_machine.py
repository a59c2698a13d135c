"""What others use of the machine is told apart from what is measured."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bench import machine
from bench.machine import Watch

BUSY = "import time\nwhile time.process_time() < .3: pass"


def test_others_are_whoever_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three seconds of ours out of seven, in ten seconds: others had four tenths of a core."""
    monkeypatch.setattr(machine, "_all_seconds", lambda: 107.0)
    monkeypatch.setattr(machine, "_our_seconds", lambda _: 5.0)
    monkeypatch.setattr(machine, "perf_counter", lambda: 60.0)
    assert Watch((), wall=50.0, all=100.0, ours=2.0).cores_of_others() == pytest.approx(0.4)


def test_what_a_child_or_a_server_used_is_ours() -> None:
    """A child that has ended, and a process that is named, with its children."""
    watch = Watch.start()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert Watch.start().ours - watch.ours >= 0.3
    assert Watch.start(os.getpid()).ours - Watch.start().ours >= 0.3
