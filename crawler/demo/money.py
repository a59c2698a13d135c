"""Prices as each country writes them, and prices that move."""

from __future__ import annotations

from zlib import crc32

from attrs import frozen

NO_BREAK = "\N{NO-BREAK SPACE}"
THIN_NO_BREAK = "\N{NARROW NO-BREAK SPACE}"


@frozen
class Notation:
    """How one country writes one currency."""

    pattern: str
    decimal: str
    group: str
    digits: int = 2


NOTATIONS: dict[tuple[str, str], Notation] = {
    ("en", "USD"): Notation("${}", ".", ","),
    ("en", "GBP"): Notation("£{}", ".", ","),
    ("de", "EUR"): Notation(f"{{}}{NO_BREAK}€", ",", "."),
    ("de", "CHF"): Notation(f"CHF{NO_BREAK}{{}}", ".", "'"),
    ("fr", "EUR"): Notation(f"{{}}{NO_BREAK}€", ",", THIN_NO_BREAK),
    ("es", "EUR"): Notation(f"{{}}{NO_BREAK}€", ",", "."),
    ("pl", "PLN"): Notation(f"{{}}{NO_BREAK}zł", ",", NO_BREAK),
    ("ja", "JPY"): Notation("{}円", "", ",", digits=0),
}

# A moving price takes these shares of the list price in turn, in percent; no two neighbours are equal.
_MOODS = (100, 92, 108, 85, 97, 115, 89)


def price_text(amount: int, language: str, currency: str) -> str:
    """`amount` smallest units as a shopper of that language reads it."""
    notation = NOTATIONS[language, currency]
    whole, rest = divmod(amount, 10**notation.digits)
    number = f"{whole:,}".replace(",", notation.group)
    if notation.digits:
        number += f"{notation.decimal}{rest:0{notation.digits}}"
    return notation.pattern.format(number)


def price_value(amount: int, currency: str) -> str:
    """`amount` as structured data gives it: a plain decimal number."""
    return str(amount) if currency == "JPY" else f"{amount // 100}.{amount % 100:02}"


def moved(amount: int, slug: str, step: int) -> int:
    """The price of `slug` at `step`; two steps in a row never give the same."""
    mood = _MOODS[(crc32(slug.encode()) + step) % len(_MOODS)]
    return max(amount * mood // 100, 1)
