"""Bytes of any kind as a tree, unless that would cost more than any page is worth."""

from __future__ import annotations

import codecs
import re
from collections import Counter

from attrs import field, frozen
from selectolax.lexbor import LexborHTMLParser

DEFAULT_MAX_BYTES = 16 * 1024 * 1024
_NO_HTML_SIGNATURES = (b"%PDF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF")
_HTML_TYPES = ("html", "xml", "text/plain", "octet-stream")


@frozen(eq=False)
class Document:
    """A parsed page; one with a `problem` has an empty tree."""

    charset: str
    problem: str  # a reason code; empty where it could be read
    tree: LexborHTMLParser = field(repr=False)


def parse(
    body: bytes, *, content_type: str = "", max_bytes: int = DEFAULT_MAX_BYTES, closely: bool = False
) -> Document:
    """Decide the charset of `body` and parse it; any bytes give a document, bad ones one with a problem.

    `closely` looks into each tag as well: for where nobody ends a parser that takes for ever.
    """
    problem = _problem(body, content_type, max_bytes)
    if problem:
        return Document("", problem, LexborHTMLParser(b""))
    charset = charset_of(body, content_type)
    source = with_shadow_trees(as_utf8(body, charset))
    problem = _nesting_problem(source)
    if closely and not problem and _has_too_many_attributes(source):
        problem = "too_large"
    return Document(charset, problem, LexborHTMLParser(b"" if problem else source))


def _problem(body: bytes, content_type: str, max_bytes: int) -> str:
    if not body.strip(b" \t\r\n\0"):
        return "empty_page"
    if len(body) > max_bytes:
        return "too_large"
    declared = content_type.partition(";")[0].strip().lower()
    if declared and not any(name in declared for name in _HTML_TYPES):
        return "not_html"
    return "not_html" if body.startswith(_NO_HTML_SIGNATURES) else ""


# ── shadow trees that stand in a page's markup, made parts of the page ──


_SHADOW_MARK = b"shadowrootmode"
_SHADOW_NAME = b"shadow-root"
_MAX_TAG_BYTES = 2_000
_TEMPLATE = b"template"
# What begins a stretch that no markup is in, a template, or the end of one.
_UNPARSED_BEGINS = re.compile(rb"<(?:(!--)|(script|style|textarea|title)\b|(/?)template\b)", re.IGNORECASE)
_UNPARSED_ENDS = {
    b"--": re.compile(rb"-->"),
    **{
        name: re.compile(b"</" + name, re.IGNORECASE) for name in (b"script", b"style", b"textarea", b"title")
    },
}
_IS_SHADOW = re.compile(rb"\sshadowrootmode\s{0,9}=\s{0,9}[\"']?(?:open|closed)\b", re.IGNORECASE)


def with_shadow_trees(source: bytes) -> bytes:
    """The same page, its declared shadow trees as elements of another name: a browser shows what is in them.

    They are templates to a parser, which keeps what is in a template away from everything that reads a page.
    """
    if _SHADOW_MARK not in source:
        return source
    pieces: list[bytes] = []
    are_shadows: list[bool] = []  # of the templates that are open
    at = copied = 0
    while (begin := _UNPARSED_BEGINS.search(source, at)) is not None:
        comment, raw, slash = begin.groups()
        if slash is None:
            end = _UNPARSED_ENDS[b"--" if comment else raw.lower()].search(source, begin.end())
            at = end.end() if end else len(source)  # without an end it is the rest of the page
            continue
        at = begin.end()
        is_shadow = (bool(are_shadows) and are_shadows.pop()) if slash else _is_shadow(source, at)
        if not slash:
            are_shadows.append(is_shadow)
        if is_shadow:
            pieces += (source[copied : at - len(_TEMPLATE)], _SHADOW_NAME)
            copied = at
    return b"".join((*pieces, source[copied:]))


def _is_shadow(source: bytes, at: int) -> bool:
    return _IS_SHADOW.search(source[at : at + _MAX_TAG_BYTES].partition(b">")[0]) is not None


# ── pages that a standard parser takes quadratic time or memory for ──


MAX_TAGS = 400_000
MAX_DEPTH = 6_000
MAX_COPIES = 3_000_000  # open formatting elements times tags: what a parser may copy
# Below these numbers of tags the worst case is still cheap, and the closer look would cost every page.
DEPTH_MATTERS_FROM = 12_000
FORMATTING_MATTERS_FROM = 3_464  # half of them open and copied into the other half: as much as is allowed

# Elements whose end tag may be left out, or that have none: they do not nest by themselves.
_SHALLOW = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li td th tr tbody thead tfoot dt dd option optgroup html head body a".split()
)
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30})")
# An open formatting element is copied into every later block, unless three of its kind already are.
# Both cases are spelt out: a pattern that ignores case cannot jump from `<` to `<`.
_FORMATTING = re.compile(
    rb"<[bBcCeEfFiInNsStTuU](?:|[iI][gG]|[oO][dD][eE]|[mM]|[oO][nN][tT]|[oO][bB][rR]|[mM][aA][lL][lL]"
    rb"|[tT][rR][iI][kK][eE]|[tT][rR][oO][nN][gG]|[tT])[\s/]"
)
_FORMATTING_NAMES = frozenset(b"b big code em font i nobr s small strike strong tt u".split())


def _nesting_problem(body: bytes) -> str:
    """The reason code for which `body` is not to be parsed; empty where it may be."""
    tags = body.count(b"<")
    if not tags:
        return "not_html"
    if tags > MAX_TAGS:
        return "too_large"
    return "too_deep" if _is_too_deep(body, tags) else ""


def _is_too_deep(body: bytes, tags: int) -> bool:
    """Whether elements nest deeper, or more formatting is left open, than a page has reason to."""
    if tags > FORMATTING_MATTERS_FROM and len(_FORMATTING.findall(body)) * tags > MAX_COPIES:
        open_at_once = sum(most for name, most in _standing(body).items() if name in _FORMATTING_NAMES)
        return open_at_once * tags > MAX_COPIES
    return tags > DEPTH_MATTERS_FROM and any(
        most > MAX_DEPTH for name, most in _standing(body).items() if name not in _SHALLOW
    )


def _standing(body: bytes) -> Counter[bytes]:
    """By name: how often elements of that name stand open at once, at most."""
    standing: Counter[bytes] = Counter()
    deepest: Counter[bytes] = Counter()
    for match in _TAG.finditer(body):
        name = match[2].lower()
        if not match[1]:
            standing[name] += 1
            deepest[name] = max(deepest[name], standing[name])
        elif standing[name]:
            standing[name] -= 1
    return deepest


MAX_ATTRIBUTES = 2_000  # of a tag: a parser compares each with all before it
_TAG_NAME = re.compile(rb"<[a-zA-Z][^\s/>]*+")
_ATTRIBUTE = rb"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>]*+))?+"
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)
_ATTRIBUTES = re.compile(rb"(?:%b){0,%d}+" % (_ATTRIBUTE, MAX_ATTRIBUTES))
_LOOKS = 8  # at each byte; scripts, where much looks like tags, take two or three


def _has_too_many_attributes(body: bytes) -> bool:
    """Whether a tag has more of them than any page has reason to.

    Each place where a tag may begin is taken for one: so a real one is among them, whatever stands around it.
    """
    left = _LOOKS * len(body)
    for tag in _TAG_NAME.finditer(body):
        found = _ATTRIBUTES.match(body, tag.end())
        length = found.end() - found.start() if found else 0
        left -= length
        if left < 0:
            return True
        if found and length >= 2 * MAX_ATTRIBUTES and len(_ONE_ATTRIBUTE.findall(found[0])) >= MAX_ATTRIBUTES:
            return True
    return False


# ── the charset a page is really in, whatever it declares ──


DECLARED_WITHIN = 4096
FALLBACK = "windows-1252"

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_:.-]{2,40})")
_HEADER = re.compile(r"charset\s{0,9}=\s{0,9}[\"']?([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)


# What browsers call charsets, by their codecs here. Only what they take as well: some Python codecs are no
# charsets, others are slow on hostile bytes.
_LABELS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "iso8859-2": "csisolatin2 iso-ir-101 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-ir-109 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-ir-110 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e"
    " iso-8859-6-i iso-ir-127 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8-e iso-8859-8-i iso-ir-138"
    " iso_8859-8:1988 logical visual",
    "iso8859-10": "csisolatin6 iso-ir-157 l6 latin6",
    "iso8859-15": "csisolatin9 l9",
    "cp1252": "ansi_x3.4-1968 ascii us-ascii cp819 ibm819 csisolatin1 iso-8859-1 iso8859-1 iso88591"
    " iso_8859-1 iso_8859-1:1987 iso-ir-100 l1 latin1 latin-1",
    "cp1254": "csisolatin5 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 iso-ir-148 l5 latin5",
    "cp874": "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "cp866": "ibm866 cp866 866 csibm866",
    "koi8_r": "koi8-r koi8_r koi8 koi cskoi8r",
    "koi8_u": "koi8-u koi8-ru",
    "mac_roman": "macintosh mac csmacintosh x-mac-roman",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk x-gbk chinese gb2312 gb_2312 gb_2312-80 csgb2312 csiso58gb231280 iso-ir-58",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "cp932": "shift_jis shift-jis sjis x-sjis csshiftjis ms932 ms_kanji windows-31j",
    "euc_jp": "euc-jp x-euc-jp cseucpkdfmtjapanese",
    "iso2022_jp": "iso-2022-jp csiso2022jp",
    "cp949": "euc-kr cseuckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 csksc56011987 iso-ir-149"
    " windows-949 cp949",
}
_SPELLINGS = ("iso-8859-{}", "iso8859-{}", "iso8859{}", "iso_8859-{}")
_CODECS = {
    **{label: codec for codec, labels in _LABELS.items() for label in labels.split()},
    **{each.format(n): f"iso8859-{n}" for n in (*range(2, 9), 10, *range(13, 17)) for each in _SPELLINGS},
    **{f"{begin}125{n}": f"cp125{n}" for n in range(9) for begin in ("windows-", "cp", "x-cp")},
}


# What stands in no text, whatever its charset: the sign of other kinds of data, by which browsers tell them.
_BINARY = bytes((*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))
_BINARY_WITHIN = 1445
_BINARY_PART = 0.03  # a page may have one or another by mistake


def is_binary(body: bytes) -> bool:
    """Whether this is no text at all, but a picture, an archive, or noise."""
    if any(body.startswith(mark) for mark, _ in _BOMS):
        return False
    begin = body[:_BINARY_WITHIN]
    return len(begin) - len(begin.translate(None, _BINARY)) > _BINARY_PART * len(begin)


def charset_of(body: bytes, content_type: str) -> str:
    """Name the charset of `body`: its byte-order mark, its bytes if they are UTF-8, then what is declared."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    declared = _declared(body, content_type)
    if "iso-2022-jp" in declared and b"\x1b$" in body:
        return "iso-2022-jp"
    if _is_utf8(body):
        return "utf-8"
    others = [name for name in declared if _CODECS[name] != "utf-8"]
    if others:
        return others[0]
    return "utf-8" if _mostly_utf8(body) else FALLBACK


def as_utf8(body: bytes, charset: str) -> bytes:
    """`body` without its byte-order mark, in UTF-8; what cannot be read in `charset` becomes U+FFFD."""
    for mark, name in _BOMS:
        if name == charset:
            body = body.removeprefix(mark)
    if charset == "utf-8":
        return body
    codec = charset if charset.startswith("utf-16") else _CODECS[charset]
    return body.decode(codec, errors="replace").encode()


def _declared(body: bytes, content_type: str) -> list[str]:
    names = _HEADER.findall(content_type[:400])
    names += [found.decode("ascii") for found in _DECLARATION.findall(body[:DECLARED_WITHIN].lower())]
    return [name.lower() for name in names if name.lower() in _CODECS]


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _mostly_utf8(body: bytes) -> bool:
    """Whether a few broken bytes stand in what is else UTF-8: a page that was cut, a pasted comment."""
    text = body.decode("utf-8", errors="replace")
    broken = text.count("�")
    sound = len(body) - sum(map(body.count, (bytes([byte]) for byte in range(128))))
    return broken * 3 < sound
