"""Modules without a unit test file of their name: those that decide nothing, each with its reason."""

from __future__ import annotations

DECIDE_NOTHING = {
    "clock.py": "reads the clock, which tests replace",
    "commands/fetch.py": "names a class made of two others (commands/checked.py)",
    "commands/parse.py": "the same",
    "commands/runspider.py": "the same",
    "commands/shell.py": "the same",
    "commands/view.py": "the same",
    "cli/__main__.py": "starts the program of cli/app.py",
    "commands/__main__.py": "starts Scrapy; tests/unit/commands/test_main.py interrupts it",
    "config/retention.py": "four fields with bounds, and no rule",
    "pdp/buy_words.py": "a table of words, held by the tests of pdp/buy_labels.py, which reads it",
    "pdp/currencies.py": "a table of names, held by the tests of pdp/money.py",
    "pdp/platforms.py": "a table of patterns, held by the tests of pdp/buy_controls.py",
    "rendering/popup_words.py": "a table of words, held by the tests of rendering/popups.py",
    "demo/__main__.py": "starts the program of demo/server.py",
    "engines/__main__.py": "starts the program of engines/tool.py",
}
# Folders of which every module declares something, and has no branch.
DECLARATIONS = {"db/migrations": "tests/unit/db/test_migrations.py runs them", "db/models": "tables"}
