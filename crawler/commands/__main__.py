"""`python -m crawler.commands` is `scrapy`, but for a silent end where it is interrupted while it loads."""

import json
import os
import sys

from crawler import interrupts


def main() -> None:
    """Load Scrapy, and run its command line."""
    interrupts.end_at_once()
    from scrapy.cmdline import execute  # ruff: ignore[import-outside-top-level] - it takes its time

    from crawler.config import PASSED_SETTINGS  # ruff: ignore[import-outside-top-level] - it takes its time

    # Every user of the machine can read a process's arguments, and only its own user its environment.
    passed = json.loads(os.environ.pop(PASSED_SETTINGS, "[]"))
    sys.argv += [part for pair in passed for part in ("-s", pair)]
    sys.exit(interrupts.run(execute))


if __name__ == "__main__":
    main()
