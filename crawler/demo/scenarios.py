"""The ways in which a shop can misbehave; `data/scenarios.toml` has their names and what each does.

A scenario stands before a page: it may answer in its place, change the answer, or let it through. A shop may
have one for good, and any shop shows one to a request whose path begins with `/scenario/<name>/`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from html import escape
from importlib import resources
from urllib.parse import quote

from attrs import frozen

from crawler.demo.pages import not_found, notice
from crawler.demo.shops import SCENARIO_TABLE
from crawler.demo.wire import HTML, Ending, Reply
from crawler.errors import NotFoundError, UsageError

PREFIX = "/scenario/"
_SCENE = "/scene/"  # what a page with a scenario fetches by script
_MEGABYTE = 1 << 20
MAX_MS = 600_000
MAX_BOMB_MEGABYTES = 512
ENDLESS_BYTES = 512 * _MEGABYTE
_MAX_HEADER_KILOBYTES = 4096
_FILL_CHARS = 4000
CANARY_PORT = 9
_WORD = re.compile(r"[A-Za-z0-9_-]{1,40}")
_MAIN = re.compile(r"(<main\b[^>]*>)(.*)(</main>)", re.DOTALL)
_LINKED_DATA = re.compile(r'<script type="application/ld\+json">.*?</script>\n?', re.DOTALL)
_IMAGE = re.compile(r'(<img\b[^>]*?) src="')
_GRID = re.compile(r'(<ul class="grid[^>]*>)')
_BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
_PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]>>endobj\n%%EOF\n"


@frozen
class Call:
    """One request, as a scenario sees it."""

    path: str  # what is asked for, without a scenario prefix
    query: Mapping[str, str]
    before: int  # how many requests the same scenario has had here before
    by_prefix: bool  # whether the path named the scenario
    host: str  # the host, without suffix and port
    url: Callable[[str, str], str]  # the URL of a host and a path

    def number(self, name: str, default: int, most: int = MAX_MS) -> int:
        """A parameter of the query, at most `most`."""
        given = self.query.get(name, str(default))
        if not given.isdecimal():
            raise UsageError(f"{name}={given} is not a whole number")
        return min(int(given), most)

    def word(self, name: str, default: str) -> str:
        """A parameter of the query that is one plain word."""
        given = self.query.get(name, default)
        if not _WORD.fullmatch(given):
            raise UsageError(f"{name} is not a word")
        return given

    @property
    def bare_host(self) -> str:
        """The shop's own host, without a side host's label."""
        return self.host.rpartition(".")[2]

    @property
    def target(self) -> str:
        """Where a redirect inside the host leads: never to where it came from."""
        return self.path if self.by_prefix or self.path != "/" else "/start"


Page = Callable[[str], Reply]
Act = Callable[[Call, Page], Reply]


def _too_many(call: Call, _page: Page) -> Reply:
    wait = str(call.number("after", 2))
    return notice(429, "One at a time, please", "Too many requests.", ("Retry-After", wait))


def _unavailable(wait: str) -> Reply:
    return notice(503, "Back in a moment", "We are taking stock.", ("Retry-After", wait))


def _recovers(call: Call, page: Page) -> Reply:
    return page(call.path) if call.before >= call.number("times", 2) else _unavailable("1")


def _to(status: int, where: str) -> Reply:
    location = quote(where, safe=":/?=&")
    text = f'It is <a href="{location}">here</a> now.'
    return notice(status, "This page has moved", text, ("Location", location))


def _to_side_host(side: str, status: int, call: Call, page: Page) -> Reply:
    wanted = f"{side}.{call.bare_host}"
    return page(call.path) if call.host == wanted else _to(status, call.url(wanted, call.path))


def _to_another_site(call: Call, _page: Page) -> Reply:
    elsewhere = "german" if call.bare_host == "plain" else "plain"
    return _to(302, call.url(elsewhere, call.path))


def _in_a_circle(call: Call, _page: Page) -> Reply:
    turn = call.number("turn", 0, 9)
    here = f"{PREFIX}redirect-loop{call.path}" if call.by_prefix else call.path
    return _to(302, f"{here}?turn={(turn + 1) % 3}")


def _captcha(_call: Call, _page: Page) -> Reply:
    text = "Please verify you are human: solve the captcha below. <img src='/favicon.png' alt='captcha'>"
    return notice(200, "Attention required", text)


def _recoded(declared: str, sent: str, call: Call, page: Page) -> Reply:
    """The page with one encoding in its header and its meta element, and another in its bytes."""
    reply = page(call.path)
    if reply.content_type != HTML:
        return reply
    declared, sent = call.word("declared", declared), call.word("sent", sent)
    text = re.sub(r'<meta charset="[^"]*">', f'<meta charset="{declared}">', reply.body.decode(), count=1)
    try:
        body = text.encode(sent, errors="xmlcharrefreplace")
    except LookupError:
        raise UsageError(f"sent={sent} is not an encoding") from None
    return reply.but(body=body, content_type=f"text/html; charset={declared}")


def _binary(_call: Call, _page: Page) -> Reply:
    noise = bytes((i * i * 7 + (i >> 3)) & 0xFF for i in range(20_000))
    return Reply(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + noise)


def _endless(_call: Call, _page: Page) -> Reply:
    line = b"<p>And another thing: on the shelf stands a jar, and in the jar is a note about the shelf.</p>\n"
    return Reply(line * 640, ending=Ending.ENDLESS)


def _gzip_bomb(call: Call, _page: Page) -> Reply:
    return Reply(_bomb(max(call.number("mb", 256, MAX_BOMB_MEGABYTES), 1)), coding="gzip")


@cache
def _bomb(megabytes: int) -> bytes:
    """A gzip file of a page and `megabytes` of spaces: one compressed block, written again and again."""
    start = b"<!doctype html><title>Small parcel</title><h1>It grows</h1>"
    block = b" " * _MEGABYTE
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = zlib.crc32(start)
    for _ in range(megabytes):
        checksum = zlib.crc32(block, checksum)
    length = len(start) + megabytes * _MEGABYTE
    tail = packer.flush() + checksum.to_bytes(4, "little") + (length & 0xFFFFFFFF).to_bytes(4, "little")
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" + head + again * megabytes + tail


def _huge_headers(call: Call, page: Page) -> Reply:
    count = call.number("kb", 256, _MAX_HEADER_KILOBYTES) * 1024 // _FILL_CHARS
    headers = tuple((f"X-Ledger-{i}", "entry-" * (_FILL_CHARS // 6)) for i in range(count))
    return page(call.path).but(headers=headers)


# What only a browser meets: a fragment of `data/scenes` at the end of each page, and what that fetches.


@cache
def _fragment(name: str) -> str:
    path = resources.files("crawler.demo").joinpath("data", "scenes", f"{name}.html")
    return path.read_text(encoding="utf-8")


def _with_fragment(
    name: str, call: Call, page: Page, change: Callable[[str], str] = str, **values: str
) -> Reply:
    """The page with the fragment of that name at its end."""
    reply = page(call.path)
    if reply.content_type != HTML or reply.status != 200:  # ruff: ignore[magic-value-comparison] - OK
        return reply
    base = f"{PREFIX}{name}" if call.by_prefix else ""
    fragment = _fragment(name)
    for key, value in {"base": base, "path": call.path, **values}.items():
        fragment = fragment.replace(f"{{{key}}}", value)
    before, end, after = change(reply.body.decode()).rpartition("</body>")
    return reply.but(body=f"{before}{fragment}{end}{after}".encode())


def _script_only(call: Call, page: Page) -> Reply:
    if call.path == f"{_SCENE}main":
        inner = page(call.query.get("path", "/"))
        found = _MAIN.search(inner.body.decode()) if inner.content_type == HTML else None
        return Reply((found[2] if found else "").encode())
    return _with_fragment(
        "script-only", call, page, lambda html: _MAIN.sub(r"\1\3", _LINKED_DATA.sub("", html))
    )


def _lazy(call: Call, page: Page) -> Reply:
    return _with_fragment("lazy", call, page, lambda html: _IMAGE.sub(rf'\1 src="{_BLANK}" data-src="', html))


def _in_frame(call: Call, page: Page) -> Reply:
    if call.path == f"{_SCENE}frame":
        return Reply(_fragment("frame").encode())
    frame = call.url(f"m.{call.bare_host}", f"{PREFIX}banner-in-frame{_SCENE}frame")
    return _with_fragment("banner-in-frame", call, page, frame=escape(frame))


def _endless_scroll(call: Call, page: Page) -> Reply:
    if call.path == f"{_SCENE}more":
        number = call.number("page", 1, 10_000)
        return Reply(f'<p style="height:420px">Shelf {number}, and there are more.</p>\n'.encode())
    return _with_fragment("endless-scroll", call, page)


def _never_idle(call: Call, page: Page) -> Reply:
    if call.path == f"{_SCENE}tick":
        return Reply(b"tick", content_type="text/plain")
    return _with_fragment("never-idle", call, page)


def _probing(call: Call, page: Page) -> Reply:
    if call.path == f"{_SCENE}away":
        port = call.number("port", CANARY_PORT, 65_535)
        return Reply(status=302, headers=(("Location", f"http://127.0.0.1:{port}/redirected"),))
    return _with_fragment("probing", call, page, canary=str(CANARY_PORT))


def _download(call: Call, page: Page) -> Reply:
    if call.path == "/products/price-list":
        attached = ("Content-Disposition", 'attachment; filename="prices.pdf"')
        return Reply(_PDF, content_type="application/pdf", headers=(attached,))
    reply = page(call.path)
    if reply.content_type != HTML:
        return reply
    base = f"{PREFIX}download" if call.by_prefix else ""
    link = f'<li class="tile"><a href="{base}/products/price-list">Price list</a></li>'
    return reply.but(body=_GRID.sub(rf"\1{link}", reply.body.decode(), count=1).encode())


# A scenario that is not listed here is a fragment and nothing else.
_ACTS: dict[str, Act] = {
    "slow": lambda call, page: page(call.path).but(delay=call.number("ms", 1500) / 1000),
    "404": lambda call, _: not_found(call.path),
    "403": lambda *_: notice(403, "Members and friends only", "The door is locked for this visitor."),
    "429": _too_many,
    "429-bare": lambda *_: notice(429, "One at a time, please", "Too many requests."),
    "503": lambda call, _: _unavailable(str(call.number("after", 2))),
    "503-recovers": _recovers,
    "redirect": lambda call, _: _to(302, call.target),
    "redirect-permanent": lambda call, _: _to(301, call.target),
    "redirect-www": partial(_to_side_host, "www", 301),
    "redirect-host": partial(_to_side_host, "m", 302),
    "redirect-away": _to_another_site,
    "redirect-loop": _in_a_circle,
    "bot-block": _captcha,
    "bot-block-clears": lambda call, page: page(call.path) if call.before % 2 else _captcha(call, page),
    "truncated": lambda call, page: page(call.path).but(ending=Ending.CUT),
    "charset": partial(_recoded, "utf-8", "windows-1252"),
    "charset-reversed": partial(_recoded, "iso-8859-1", "utf-8"),
    "empty": lambda *_: Reply(),
    "binary": _binary,
    "endless": _endless,
    "gzip-bomb": _gzip_bomb,
    "reset": lambda call, page: page(call.path).but(ending=Ending.RESET),
    "huge-headers": _huge_headers,
    "script-only": _script_only,
    "banner-in-frame": _in_frame,
    "lazy": _lazy,
    "endless-scroll": _endless_scroll,
    "never-idle": _never_idle,
    "download": _download,
    "probing": _probing,
}


@frozen
class Scenario:
    """A named way to misbehave."""

    name: str
    purpose: str  # one line, with the parameters that it takes and their defaults
    act: Act


SCENARIOS: dict[str, Scenario] = {
    name: Scenario(name, values["does"], _ACTS.get(name, partial(_with_fragment, name)))
    for name, values in SCENARIO_TABLE.items()
}


def split_prefix(path: str) -> tuple[str, str]:
    """The scenario that `path` names, or none, and the path behind it."""
    if not path.startswith(PREFIX):
        return "", path
    name, _, rest = path.removeprefix(PREFIX).partition("/")
    if name not in SCENARIOS:
        raise NotFoundError(f"there is no scenario {name!r}")
    return name, f"/{rest}"
