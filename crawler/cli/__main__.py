"""`python -m crawler.cli` is `vitrine`."""

from crawler.cli import main

main()
