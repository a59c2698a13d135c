"""`python -m crawler.engines`: the archive tool."""

from crawler.engines.tool import main

main()
