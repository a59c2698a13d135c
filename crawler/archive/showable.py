"""In which form a stored answer may go out: by a list of what a browser may be given. Pure."""

from __future__ import annotations

import re
from enum import StrEnum

from attrs import frozen

STYLE_ATTRIBUTES = "'self' 'unsafe-inline'"
# Nothing runs, nothing is asked for elsewhere, no form is sent, and the page has no origin of its own. A
# click may lead the window that it stands in to another archived page.
POLICY = "; ".join(
    (
        "sandbox allow-top-navigation-by-user-activation",
        "default-src 'none'",
        "script-src 'none'",
        "img-src 'self' data:",
        f"style-src {STYLE_ATTRIBUTES}",
        "font-src 'self' data:",
        "media-src 'self'",
        "frame-src 'self'",
        "connect-src 'none'",
        "form-action 'none'",
        "base-uri 'none'",
    )
)
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_PICTURES = frozenset(
    {
        "image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/avif", "image/bmp",
        "image/apng", "image/x-icon", "image/vnd.microsoft.icon",
    }
)  # fmt: skip
_SVG = "image/svg+xml"
_FONTS = re.compile(
    r"(?:font/[\w.+-]{1,40}|application/(?:x-)?font(?:-[\w.+-]{1,40})?"
    r"|application/vnd\.ms-(?:fontobject|opentype)|application/x-(?:ttf|otf|woff2?)[\w-]{0,20})"
)
_MEDIA = re.compile(r"(?:audio|video)/[\w.+-]{1,40}")
_TEXTS = re.compile(r"text/[\w.+-]{1,60}|application/(?:[\w.-]{1,60}\+)?(?:json|xml|javascript|ecmascript)")
# What says nothing, or is said of everything.
_VAGUE = frozenset(
    {
        "", "text/html", "text/plain", "application/octet-stream", "binary/octet-stream",
        "application/binary", "application/x-binary", "application/force-download",
        "application/x-download", "unknown/unknown", "unk",
    }
)  # fmt: skip
_MARKS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
    (b"wOF2", "font/woff2"), (b"wOFF", "font/woff"), (b"\x00\x01\x00\x00", "font/ttf"),
    (b"true\x00", "font/ttf"), (b"OTTO\x00", "font/otf"), (b"ttcf\x00", "font/collection"),
    (b"\x00\x00\x01\x00", "image/x-icon"), (b"\x00\x00\x02\x00", "image/x-icon"),
    (b"%PDF-", "application/pdf"), (b"PK\x03\x04", "application/zip"),
)  # fmt: skip
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|title|script|style|h1|p|div|table|a|br)\b",
    re.IGNORECASE,
)
_BARE = 200, 204, 205, 206  # without a body, or with a part of one: what is shown is what is there
FOR_FONTS = ("Access-Control-Allow-Origin", "null")  # they are asked for in the name of an origin
_DOWNLOAD = ("Content-Disposition", "attachment")


class Form(StrEnum):
    """How a body goes out."""

    PAGE = "page"  # written anew
    STYLE = "style"  # written anew
    TEXT = "text"  # as text
    AS_IT_IS = "as it is"
    FILE = "file"  # to be saved, never shown
    REDIRECT = "redirect"  # nothing but where it leads, to a page or to a part of one


@frozen
class Showable:
    """A form, and the content type that is told."""

    form: Form
    content_type: str


AS_TEXT = Showable(Form.TEXT, "text/plain; charset=utf-8")
A_REDIRECT = Showable(Form.REDIRECT, "text/plain; charset=utf-8")
AS_PAGE = Showable(Form.PAGE, "text/html; charset=utf-8")


def showable(declared: str, begin: bytes) -> Showable:
    """The form of a body by what the site said of it and, where that says little, by how it begins."""
    kind = declared.partition(";")[0].strip().lower()
    if kind in _VAGUE:
        kind = _by_its_beginning(begin) or kind
    if kind in _PAGES:
        return AS_PAGE
    if kind == "text/css":
        return Showable(Form.STYLE, "text/css; charset=utf-8")
    if kind in _PICTURES or is_font(kind) or _MEDIA.fullmatch(kind):
        return Showable(Form.AS_IT_IS, kind)
    if kind == _SVG:
        return Showable(Form.FILE, kind)  # as a picture within a page it is shown all the same
    if _TEXTS.fullmatch(kind):
        return AS_TEXT
    return Showable(Form.FILE, "application/pdf" if kind == "application/pdf" else "application/octet-stream")


def is_font(kind: str) -> bool:
    """Whether a content type is a font's."""
    return _FONTS.fullmatch(kind) is not None


def is_vague(kind: str) -> bool:
    """Whether a content type says nothing, so that the bytes have to be looked at."""
    return kind in _VAGUE


def _by_its_beginning(begin: bytes) -> str | None:
    for mark, kind in _MARKS:
        if begin.startswith(mark):
            return kind
    if begin[:4] == b"RIFF" and begin[8:12] == b"WEBP":
        return "image/webp"
    if begin[4:12] in {b"ftypavif", b"ftypavis"}:
        return "image/avif"
    return "text/html" if _MARKUP.match(begin) else None


def status_of(stored: int | None) -> int:
    """The status that goes out with a capture: the one that it was answered with, if that has a body."""
    if stored is None or stored in _BARE or not 200 <= stored < 600 or 300 <= stored < 400:  # ruff: ignore[magic-value-comparison] - HTTP's
        return 200
    return stored


def headers_of(shown: Showable, *, as_stored: bool = False) -> list[tuple[str, str]]:
    """What goes out beside a body; nothing of the archived answer's own headers does."""
    is_part = shown.form in {Form.STYLE, Form.AS_IT_IS, Form.REDIRECT} or shown.content_type == _SVG
    headers = [
        ("Content-Type", shown.content_type),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        # A sandboxed page has no origin: to the browser its own pictures come from somewhere else.
        ("Cross-Origin-Resource-Policy", "cross-origin" if is_part else "same-origin"),
        ("X-DNS-Prefetch-Control", "off"),
        ("X-Robots-Tag", "noindex, nofollow"),
        ("Cache-Control", "no-cache"),
    ]
    if is_font(shown.content_type) or shown.form is Form.REDIRECT:
        headers.append(FOR_FONTS)
    if shown.form is Form.FILE or as_stored:
        headers.append(_DOWNLOAD)
    return headers
