"""The phrases of every language that the demo speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.demo.wording.english import ENGLISH
from crawler.demo.wording.french import FRENCH
from crawler.demo.wording.german import GERMAN
from crawler.demo.wording.japanese import JAPANESE
from crawler.demo.wording.polish import POLISH
from crawler.demo.wording.spanish import SPANISH

if TYPE_CHECKING:
    from crawler.demo.wording.words import Words

WORDS: dict[str, Words] = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "pl": POLISH,
    "ja": JAPANESE,
}
