"""Reads amounts of money in any notation: `1.234,56 €`, `CHF 7.95`, `21 777 Kč`, `12,-`."""

# ruff: file-ignore[ambiguous-unicode-character-string] - numbers come with all kinds of marks and dashes

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from attrs import frozen

from crawler.pdp.currencies import BY_COUNTRY, CODES, COMMON_CODES, NAMES, RENAMED, SHARED, SIGNS, TENFOLD

MAX_TEXT_CHARS = 400
MAX_AMOUNT = Decimal(10) ** 12

_SPACE = r"[ \u00a0\u202f\u2009]"
_LAKHS = r"\d{1,2}(?:,\d\d){1,3},\d{3}(?!\d)"
_GROUPED = rf"\d{{1,9}}(?:(?:[.,'’´`]|{_SPACE})\d{{3}}(?!\d)){{0,4}}"
_DECIMALS = rf"(?:{_SPACE}?[.,]{_SPACE}?\d{{1,3}}(?!\d))?"
_NUMBER = rf"(?:{_LAKHS}|{_GROUPED}){_DECIMALS}(?:[.,]?[-–—]{{1,2}}(?!\d))?"
_TOKENS = sorted(
    {re.escape(token) for token in (*SIGNS, *SHARED, *NAMES)} | {code.lower() for code in COMMON_CODES},
    key=len,
    reverse=True,
)
_TOKEN = "|".join(_TOKENS)
_MONEY = re.compile(
    rf"(?<![\w$]|(?<=\d)[.,])(?P<before>{_TOKEN})\.?\s{{0,2}}(?P<after_sign>{_NUMBER})"
    rf"|(?<![\d.,#/-])(?P<before_sign>{_NUMBER})\s{{0,2}}(?P<after>{_TOKEN})(?![^\W\d_])"
    # A sign that stands right before the next number, and not before the space, belongs to that.
    r"(?!(?<=\s[$€£¥₹])\d)",
    re.IGNORECASE,
)
# Codes are read in any case but for these, which are words in small letters: a try, a gel, ten Sek(unden).
_WORDS = {"ARS", "COP", "GEL", "HUF", "ILS", "LVL", "NIS", "PHP", "RON", "SEK", "TRY"}
_NO_WORDS = "|".join(sorted(COMMON_CODES - _WORDS))
_UNMISTAKABLE = re.compile(
    "["
    + "".join(map(re.escape, (*SIGNS, "$", "¥", "￥")))
    + "]|(?<![A-Za-z])(?:"
    + "|".join(sorted(_WORDS))
    + rf")(?![A-Za-z])|(?i:(?<![A-Za-z])(?:{_NO_WORDS})(?![A-Za-z]))"
    r"|Kč|zł|руб|грн|тенге|円|元|원|บาท|درهم|ريال|تومان"
    r"|\d\s?(?:kr|lei|Ft|лв|тг|ден|дин|сум|сом|TL)(?!\w)|(?<!\w)(?:kr|Rp|RM|Rs|KSh|S/\.)\.?\s?(?=\d)"
)
MAX_SIGNS = 300
_GROUP = 3  # digits between two marks of thousands
_WINDOW = 24
_DASHES = re.compile(r"[.,]?[-–—]+$")
_POINTED = re.compile(r"\d{1,12}\.\d{1,6}")
_FIRST_NUMBER = re.compile(_NUMBER)
_NO_DIGITS = re.compile(r"[^\d.,]")


@frozen
class Money:
    """An amount, and its currency where the text says it."""

    number: Decimal  # as it stands there
    currency: str  # ISO 4217, or empty
    text: str
    factor: int = 1

    @property
    def amount(self) -> Decimal:
        """In units of the currency."""
        return self.number * self.factor


def find_money(text: str, *, country: str = "") -> Money | None:
    """The first amount with a currency in a short `text`, such as that of a price element."""
    found = (_money(match, country) for match in _MONEY.finditer(text[:MAX_TEXT_CHARS]))
    return next(filter(None, found), None)


def amounts_in(text: str) -> list[Decimal]:
    """Every amount in a short `text`: those with a currency, or else its first number."""
    found = list(filter(None, (_money(match, "") for match in _MONEY.finditer(text))))
    if not found:
        return [amount for amount in [read_plain(text)] if amount is not None]
    return [amount for money in found for amount in {money.number: None, money.amount: None}]


def _money(match: re.Match[str], country: str) -> Money | None:
    token = match["before"] or match["after"]
    number = read_amount(match["after_sign"] or match["before_sign"])
    factor = 10 if token in TENFOLD else 1
    if number is None or number * factor >= MAX_AMOUNT:
        return None
    return Money(number, currency_of(token, country=country), match[0].strip(), factor)


def find_in_prose(text: str, *, country: str = "") -> Money | None:
    """The first amount above zero in a long `text` with a currency that cannot be taken for a word."""
    for number, sign in enumerate(_UNMISTAKABLE.finditer(text)):
        if number > MAX_SIGNS:
            break
        money = find_money(text[max(0, sign.start() - _WINDOW) : sign.end() + _WINDOW], country=country)
        # It may be that of a neighbour in the same window.
        if money and money.amount > 0 and sign[0].strip().lower() in money.text.lower():
            return money
    return None


def read_amount(text: str) -> Decimal | None:
    """The first number in `text`, whichever mark parts its thousands and its decimals."""
    number = _FIRST_NUMBER.search(text[:MAX_TEXT_CHARS])
    if number is None:
        return None
    digits = _NO_DIGITS.sub("", _DASHES.sub("", number[0])).strip(".,")
    try:
        amount = Decimal(_decimal_notation(digits))
    except InvalidOperation:
        return None
    return amount if amount < MAX_AMOUNT else None


def read_plain(text: str) -> Decimal | None:
    """The number in a machine's field: a single point parts decimals there, whatever the country."""
    bare = text.strip()[:60]
    return Decimal(bare) if _POINTED.fullmatch(bare) else read_amount(bare)


def _decimal_notation(digits: str) -> str:
    """Tell the decimal mark from marks of thousands.

    It is the last one, stands once, and not before three digits.
    """
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return digits
    mark = digits[last]
    whole, decimals = digits[:last], digits[last + 1 :]
    only_mark = "." not in whole and "," not in whole
    if mark in whole or (len(decimals) == _GROUP and only_mark and whole != "0" and len(whole) <= _GROUP):
        return re.sub(r"[.,]", "", digits)
    return f"{re.sub(r'[.,]', '', whole)}.{decimals}"


def currency_of(token: str, *, country: str = "") -> str:
    """The ISO code that a sign, a name or a code stands for, empty where it stands for none."""
    bare = token.strip().rstrip(".")
    upper = RENAMED.get(bare.upper(), bare.upper())
    if upper in CODES:
        return upper
    if bare in SIGNS:
        return SIGNS[bare]
    lower = bare.lower()
    shared = SHARED.get(lower)
    if shared:
        local = BY_COUNTRY.get(country, "")
        return local if local in shared else shared[0]
    return NAMES.get(lower) or NAMES.get(token.strip().lower(), "")
