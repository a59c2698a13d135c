"""`python -m crawler.commands` is `scrapy`, but for a silent end where it is interrupted while it loads."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Load Scrapy, and run its command line."""
    try:
        from scrapy.cmdline import execute  # ruff: ignore[import-outside-top-level] - it takes its time

        execute()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
