"""A stub of `docker`, put on the PATH: it speaks what the engine `zimit` says to it, and notes each word.

STUB_DOCKER_LOG names its file of words; STUB_DOCKER the exit code of `run`, or `away` for a daemon that is.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main() -> int:
    """Answer as Docker does."""
    with Path(os.environ["STUB_DOCKER_LOG"]).open("a", encoding="utf-8") as log:
        log.write(json.dumps(sys.argv[1:]) + "\n")
    what = os.environ.get("STUB_DOCKER", "0")
    if what == "away":
        sys.stderr.write("Cannot connect to the Docker daemon\n")
        return 1
    if sys.argv[1] == "ps":
        sys.stdout.write(os.environ.get("STUB_DOCKER_CONTAINERS", ""))
    if sys.argv[1] == "run":
        return run(int(what))
    return 0


def run(code: int) -> int:
    """Leave what zimit leaves: WARCs in a temporary folder, a state to go on with, and a ZIM."""
    out = Path(sys.argv[sys.argv.index("-v") + 1].partition(":")[0])
    name = sys.argv[sys.argv.index("--name", sys.argv.index("zimit")) + 1]
    if "--warcs" in sys.argv or not code:
        (out / f"{name}.zim").write_bytes(b"zim")
    if "--warcs" in sys.argv:
        return 0
    crawl = out / f".tmp{len(list(out.glob('.tmp*')))}" / "collections" / "crawl-1"
    for folder in ("archive", "crawls"):
        (crawl / folder).mkdir(parents=True)
    (crawl / "archive" / "a.warc.gz").write_bytes(b"warc")
    (crawl / "crawls" / "state.yaml").write_text("state", encoding="utf-8")
    details = {"crawled": 3, "total": 3, "pending": 0, "failed": 0}
    line = {"logLevel": "info", "context": "crawlStatus", "message": "Crawl statistics", "details": details}
    sys.stdout.write(json.dumps(line) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
