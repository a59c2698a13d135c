#!/usr/bin/env python
"""One retention pass, for cron: `vitrine cleanup` under another name."""

import sys

from crawler.cli.app import run

if __name__ == "__main__":
    sys.exit(run(["cleanup", *sys.argv[1:]]))
