"""Which language a text is in: as declared, unless its script says otherwise; else by its commonest words."""

from __future__ import annotations

import operator
import re
from collections import Counter

UNKNOWN = "und"
ENOUGH_CHARS = 200  # for common words to say something
ENOUGH_WORDS = 5
LOOKED_AT = 4_000
MOSTLY = 0.5
SENTENCE_LETTERS = 20
_CODE = re.compile(r"\s*([a-z]{2,3})(?:[-_][a-z0-9]{1,8})*\s*", re.IGNORECASE)
_SCRIPTS = (
    ("kana", re.compile(r"[\u3040-\u30ff]")),
    ("hangul", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("han", re.compile(r"[\u4e00-\u9fff\u3400-\u4dbf]")),
    ("thai", re.compile(r"[\u0e01-\u0e5b]")),
    ("cyrillic", re.compile(r"[\u0400-\u04ff]")),
    ("greek", re.compile(r"[\u0370-\u03ff]")),
    ("arabic", re.compile(r"[\u0600-\u06ff]")),
    ("hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("indic", re.compile(r"[\u0900-\u0dff]")),
    ("latin", re.compile(r"[a-zA-Z\u00c0-\u024f]")),
)
_LATIN_WORDS = re.compile(r"[a-zA-Z]+")
# The languages that are written so; those of scripts that are not listed are not doubted.
_WRITTEN_IN = {
    "kana": ("ja",),
    "hangul": ("ko",),
    "han": ("zh", "ja", "yue", "wuu"),
    "thai": ("th",),
    "cyrillic": ("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tg", "tt", "uz", "az"),
    "greek": ("el",),
    "arabic": ("ar", "fa", "ur", "ps", "ckb", "ug", "sd"),
    "hebrew": ("he", "yi"),
}
_CERTAIN = {"kana": "ja", "hangul": "ko", "han": "zh", "thai": "th", "greek": "el", "hebrew": "he"}
_COMMON = {
    "en": "the and of to in is for with that you your this are from",
    "fr": "le la les des et en du une dans pour est vous que avec sur",
    "de": "der die das und ist mit für von nicht ein eine auf den zu sie",
    "es": "el los las que una para con por del en es su más como y",
    "it": "il che di per con una sono della gli non dei del più e nel",
    "nl": "het een van en de voor met zijn op niet dat te aan bij deze",
    "pt": "os das que uma para com não por dos em é mais ao sua você",
    "sv": "och att det som en på är för av med till inte den ett har",
    "pl": "i w na się z do nie jest to że dla od po przez oraz",
}
_WORDS = {
    word: [code for code in _COMMON if word in _COMMON[code].split()]
    for word in set(" ".join(_COMMON.values()).split())
}


def language_of(text: str, *declared: str) -> str:
    """The code of the first declaration that the text's script allows; `und` where nothing tells."""
    script = _script_of(text[:LOOKED_AT])
    for each in declared:
        code = _code_in(each)
        if code and _may_be(code, script):
            return code
    return _CERTAIN.get(script) or _by_words(text)


def _code_in(declared: str) -> str:
    """The first language of a declaration such as `en-GB, fr`; empty for `x-default` and other nonsense."""
    match = _CODE.fullmatch(declared[:100].partition(",")[0])
    code = match[1].lower() if match else ""
    return "" if code == UNKNOWN else code


def _may_be(code: str, script: str) -> bool:
    if script in _WRITTEN_IN:
        return code in _WRITTEN_IN[script]
    return script != "latin" or all(code not in codes for codes in _ONLY_IN_OTHERS)


# Languages that nobody writes in Latin letters on a page that says so.
_ONLY_IN_OTHERS = (("ja", "ko", "zh", "th", "el", "he", "ar", "ru", "uk", "bg", "fa", "ur"),)


def _script_of(text: str) -> str:
    """The script of most of a text's letters; kana make it Japanese even among more Han."""
    if text.isascii():
        # The beginning tells, nearly always.
        is_latin = any(
            sum(map(len, _LATIN_WORDS.findall(part))) >= SENTENCE_LETTERS for part in (text[:200], text)
        )
        return "latin" if is_latin else ""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    letters = sum(counts.values())
    if letters < SENTENCE_LETTERS:
        return ""
    if counts["kana"] and counts["kana"] + counts["han"] > letters * MOSTLY:
        return "kana" if counts["kana"] * 20 > counts["han"] else "han"
    name, most = max(counts.items(), key=operator.itemgetter(1))
    return name if most > letters * MOSTLY else ""


def _by_words(text: str) -> str:
    if len(text) < ENOUGH_CHARS:
        return UNKNOWN
    hits: Counter[str] = Counter()
    for word in re.findall(r"[^\W\d_]+", text[:LOOKED_AT].lower()):
        hits.update(_WORDS.get(word, ()))
    best = hits.most_common(2)
    if not best or best[0][1] < ENOUGH_WORDS:
        return UNKNOWN
    is_clear = len(best) == 1 or best[0][1] > best[1][1]
    return best[0][0] if is_clear else UNKNOWN
