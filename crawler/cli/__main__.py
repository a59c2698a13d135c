"""`python -m crawler.cli` is `vitrine`."""

import gc

from crawler import interrupts


def main() -> None:
    """Load the command line, and run it."""
    interrupts.end_at_once()
    gc.disable()  # what is loaded now stays until the end: looking through it for garbage is wasted
    from crawler.cli import app  # ruff: ignore[import-outside-top-level] - see above

    app.main()


if __name__ == "__main__":
    main()
