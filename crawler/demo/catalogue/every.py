"""The goods of every language that the demo speaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.demo.catalogue.english import ENGLISH
from crawler.demo.catalogue.french import FRENCH
from crawler.demo.catalogue.german import GERMAN
from crawler.demo.catalogue.japanese import JAPANESE
from crawler.demo.catalogue.polish import POLISH
from crawler.demo.catalogue.spanish import SPANISH

if TYPE_CHECKING:
    from crawler.demo.goods import Assortment

ASSORTMENTS: dict[str, Assortment] = {
    assortment.language: assortment for assortment in (ENGLISH, GERMAN, FRENCH, SPANISH, POLISH, JAPANESE)
}
