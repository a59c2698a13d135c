"""The English assortment: six departments of ten."""

from __future__ import annotations

from crawler.demo.catalogue.english_house import CABINETRY, LAMPS, TEXTILES
from crawler.demo.catalogue.english_table import GLASSWARE, PAPER, TEA
from crawler.demo.goods import Assortment

ENGLISH = Assortment("en", (GLASSWARE, CABINETRY, TEA, PAPER, LAMPS, TEXTILES))
