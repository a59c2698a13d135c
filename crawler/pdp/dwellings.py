"""Whether a page says in words that it offers a home: in its title, its heading, or its own address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.pdp.page import Page

MAX_CHARS = 400
# In English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Polish, Czech, Russian.
_OFFERED = (
    r"(?:for (?:sale|rent)|to (?:rent|let)|per night|zu (?:verkaufen|vermieten)|zur miete|mieten|"
    r"à (?:vendre|louer)"
    r"|en (?:venta|alquiler|renta)|in (?:vendita|affitto)|à venda|venda|alugar|aluguel|arrendar|"
    r"te (?:koop|huur)"
    r"|till salu|til salg|na sprzedaż|do wynajęcia|na prodej|k pronájmu|продажа|продается|аренда|снять)"
)
_DWELLING = (
    r"(?:apartment|condo|condominium|bedroom|townhouse|bungalow|detached|duplex|penthouse|wohnung|"
    r"einfamilienhaus"
    r"|reihenhaus|doppelhaushälfte|appartement|pièce|apartamento|departamento|chalet|vivienda|habitacione"
    r"|appartamento|bilocale|trilocale|imovel|imóvel|quarto|moradia|sobrado|woning|lägenhet|"
    r"lejlighed|mieszkanie"
    r"|квартир\w{0,3})s?"
)
# What is also a word for other things stands right beside the offer.
_HOME = r"(?:house|home|flat|villa|studio|room|haus|zimmer|maison|piso|casa|huis|byt|dům|dom|комнат\w{0,3})s?"
_PATTERNS = (
    re.compile(rf"\b{_DWELLING}\b.*\b{_OFFERED}\b|\b{_OFFERED}\b.*\b{_DWELLING}\b"),
    re.compile(rf"\b{_HOME} {_OFFERED}\b"),
)


def dwelling_in(page: Page) -> str:
    """The words with which a page offers a home to buy or to rent; empty where it does not."""
    paths = (re.sub(r"\W+", " ", address.partition("/")[2]) for address in sorted(page.identity.addresses))
    said = (
        match[0]
        for text in (*page.identity.titles, *paths)
        for pattern in _PATTERNS
        if (match := pattern.search(text[:MAX_CHARS]))
    )
    return next(said, "")
