"""`python -m crawler.cli` is `vitrine`."""

import gc
import sys

INTERRUPTED = 130


def main() -> None:
    """Load the command line, and run it."""
    gc.disable()  # what is loaded now stays until the end: looking through it for garbage is wasted
    try:
        from crawler.cli import app  # ruff: ignore[import-outside-top-level] - see above
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    app.main()


if __name__ == "__main__":
    main()
