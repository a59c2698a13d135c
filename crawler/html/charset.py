"""The charset a page is really in, whatever it declares."""

from __future__ import annotations

import codecs
import re

DECLARED_WITHIN = 4096
FALLBACK = "windows-1252"

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATION = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_:.-]{2,40})")
_HEADER = re.compile(r"charset\s{0,9}=\s{0,9}[\"']?([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)

# Only what browsers take as well: some Python codecs are no charsets, others are slow on hostile bytes.
_CODECS = {
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in (*range(2, 9), *range(10, 12), *range(13, 17))},
    **{f"windows-125{n}": f"cp125{n}" for n in range(9)},
    **{f"cp125{n}": f"cp125{n}" for n in range(9)},
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "gb_2312-80", "x-gbk"), "gb18030"),
    **dict.fromkeys(("big5", "big5-hkscs", "x-x-big5"), "big5hkscs"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "cp949", "windows-949"), "cp949"),
    **dict.fromkeys(("tis-620", "windows-874", "iso-8859-11"), "cp874"),
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "ibm866": "cp866",
    "macintosh": "mac_roman",
    "utf-8": "utf-8",
    "utf8": "utf-8",
}


def decide(body: bytes, content_type: str) -> str:
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
