"""The project's settings, with Vitrine's add-on."""

from tests.e2e.things.settings_plain import *  # ruff: ignore[undefined-local-with-import-star] - as users write it

ADDONS = {"crawler.addon.Vitrine": 100}
