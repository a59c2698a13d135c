"""The project's settings, on top of Vitrine's."""

from crawler.settings import *  # ruff: ignore[undefined-local-with-import-star] - as users write it
from tests.e2e.things.settings_plain import *  # ruff: ignore[undefined-local-with-import-star] - as users write it
