#!/usr/bin/env python
"""One retention pass, for cron: `vitrine cleanup` under another name."""

import sys

from crawler.cli.__main__ import main

if __name__ == "__main__":
    sys.argv.insert(1, "cleanup")
    main()
