"""Starts cleaners on demand: run as a module, it forks one for each line that it reads, and names it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from crawler.db.engine import Database
from crawler.evidence.folder_store import FolderStore
from crawler.retention.cleanup import CleanupOrder, clean_up


def main() -> None:
    """Fork before anything is opened, so that no connection is shared."""
    url, root = sys.argv[1:]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system takes the dead away
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            clean_up(Database(url), FolderStore(Path(root)), CleanupOrder(batch_size=500))
            os._exit(0)
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
