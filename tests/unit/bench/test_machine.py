"""What others use of the machine is told apart from what is measured."""

from __future__ import annotations

import os
import subprocess
import sys

from bench.machine import Watch

BUSY = "import time\nwhile time.process_time() < .3: pass"


def test_what_a_child_or_a_server_used_is_ours() -> None:
    """A child that has ended, and a process that is named, with its children."""
    watch = Watch.start()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    assert Watch.start().ours - watch.ours >= 0.3
    assert Watch.start(os.getpid()).ours - Watch.start().ours >= 0.3
