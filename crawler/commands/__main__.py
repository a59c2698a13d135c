"""`python -m crawler.commands` is `scrapy`, but for a silent end where it is interrupted while it loads."""

import sys

from crawler import interrupts


def main() -> None:
    """Load Scrapy, and run its command line."""
    interrupts.end_at_once()
    from scrapy.cmdline import execute  # ruff: ignore[import-outside-top-level] - it takes its time

    sys.exit(interrupts.run(execute))


if __name__ == "__main__":
    main()
