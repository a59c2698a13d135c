"""Currencies as shops write them: data for `money`."""
# ruff: file-ignore[ambiguous-unicode-character-string,split-static-string] - a table reads better as text; the names are written in the letters of their languages

CODES = frozenset(
    (
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN "
        "BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL "
        "GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF "
        "KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LTL LVL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK "
        "MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RUR RWF SAR "
        "SBD SCR SDG SEK SGD SHP SIT SKK SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD "
        "TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"
    ).split()
)
# Those that are looked for in text. Of the others many are words as well: ALL, TOP, CUP, TRY, PEN.
COMMON_CODES = frozenset(
    (
        "AED ARS AUD BDT BGN BHD BRL BYN CAD CHF CLP CNY COP CRC CZK DKK DZD EGP EUR GBP GEL GHS HKD HRK "
        "HUF IDR ILS INR IRR ISK JOD JPY KES KRW KWD KZT LKR LTL LVL MDL MKD MXN MYR NGN NIS NOK NTD NZD "
        "OMR PHP PKR PLN QAR RMB RON RSD RUB RUR SAR SEK SGD THB TND TRY TWD TZS UAH UGX USD UYU UZS VND "
        "XAF XOF ZAR"
    ).split()
)
RENAMED = {"RUR": "RUB", "NTD": "TWD", "RMB": "CNY", "NIS": "ILS"}

# Signs that mean one currency wherever they stand.
SIGNS = dict(
    pair.split("=")
    for pair in (
        "€=EUR £=GBP ₹=INR ₽=RUB ₴=UAH ₪=ILS ₩=KRW ₫=VND ₺=TRY ₱=PHP ฿=THB ₦=NGN ₡=CRC ₲=PYG ₵=GHS "
        "₸=KZT ₼=AZN ₾=GEL ₮=MNT ₭=LAK ៛=KHR ৳=BDT ﷼=IRR ₨=INR ֏=AMD"
    ).split()
)
# Names and abbreviations in lower case; a trailing dot is dropped before they are looked up.
_NAMES_OF = {
    "EUR": "eur euro euros €uro ευρω ευρώ",
    "CZK": "kč kc",
    "PLN": "zł zl",
    "HUF": "ft",
    "RON": "lei leu ron",
    "BGN": "лв лева",
    "RSD": "din дин рсд",
    "MKD": "ден",
    "HRK": "kn",
    "BAM": "km",
    "RUB": "руб рублей р",
    "UAH": "грн гривен uah",
    "KZT": "тг тенге тңг",
    "BYN": "byn бел.руб",
    "UZS": "сум",
    "KGS": "сом",
    "CHF": "fr sfr chf",
    "TRY": "tl",
    "ALL": "lek",
    "AZN": "ман azn",
    "JPY": "円",
    "CNY": "元 rmb",
    "KRW": "원",
    "THB": "บาท",
    "VND": "đ vnđ vnd",
    "ILS": 'ש"ח ש״ח nis',
    "IDR": "rp",
    "MYR": "rm",
    "INR": "rs inr",
    "BRL": "r$",
    "USD": "us$ usd u$s",
    "TWD": "nt$ ntd",
    "HKD": "hk$",
    "SGD": "s$",
    "AUD": "a$ au$",
    "CAD": "c$ ca$ cad$",
    "NZD": "nz$",
    "MXN": "mx$",
    "ARS": "ar$",
    "COP": "cop$",
    "CLP": "clp$",
    "PEN": "s/ s/.",
    "PYG": "gs",
    "BOB": "bs",
    "KES": "ksh kshs",
    "AED": "د.إ درهم dhs aed",
    "SAR": "ر.س ريال",
    "KWD": "د.ك",
    "EGP": "جنيه ج.م",
    "QAR": "ر.ق",
    "IRR": "تومان",
    "MAD": "dh",
    "ZAR": "r",
    "SEK": "кр",
}
TENFOLD = {"تومان"}  # what people count in, where ISO 4217 knows a tenth of it only
NAMES = {name: code for code, names in _NAMES_OF.items() for name in names.split()}
# Signs that several countries share: the first is taken where the page does not say which it is.
SHARED = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "TWD", "ARS", "CLP", "COP", "UYU"),
    "kr": ("SEK", "NOK", "DKK", "ISK"),
    "¥": ("JPY", "CNY"),
    "￥": ("JPY", "CNY"),
}
# The currency of a country, by top-level domain or by the region of a language tag.
BY_COUNTRY = dict(
    pair.split("=")
    for pair in (
        "us=USD ca=CAD au=AUD nz=NZD sg=SGD hk=HKD mx=MXN tw=TWD ar=ARS cl=CLP co=COP uy=UYU se=SEK "
        "no=NOK dk=DKK is=ISK jp=JPY cn=CNY uk=GBP gb=GBP ch=CHF br=BRL in=INR za=ZAR il=ILS ru=RUB "
        "ua=UAH pk=PKR lk=LKR np=NPR id=IDR"
    ).split()
)
# Where a language is spoken whose tag names no region, as far as shared signs mean different money there.
BY_LANGUAGE = {"da": "dk", "is": "is", "nb": "no", "nn": "no", "no": "no", "sv": "se", "ja": "jp", "zh": "cn"}
