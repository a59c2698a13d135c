"""`python -m crawler.engines` is the archive tool, `vitrine-archive-tool`."""

from crawler import interrupts


def main() -> None:
    """Load the tool, and run it."""
    interrupts.end_at_once()
    from crawler.engines import tool  # ruff: ignore[import-outside-top-level] - it takes its time

    tool.main()


if __name__ == "__main__":
    main()
