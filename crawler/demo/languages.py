"""What the shops sell and say, a file for each language that the demo speaks."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

_DATA = resources.files("crawler.demo").joinpath("data")
_SPOKEN = ("en", "de", "fr", "es", "pl", "ja")

LANGUAGES: dict[str, dict[str, Any]] = {
    language: json.loads(_DATA.joinpath(f"{language}.json").read_text(encoding="utf-8"))
    for language in _SPOKEN
}
