"""The ways in which a shop can misbehave: one small function each, and the table that names them.

A scenario stands before a page: it may answer in its place, change the answer, or let it through. A shop may
have one for good, and any shop shows one to a request whose path begins with `/scenario/<name>/`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from html import escape
from itertools import starmap
from urllib.parse import quote

from attrs import frozen

from crawler.demo.scenes import SCENES
from crawler.demo.wire import HTML, Ending, Reply
from crawler.errors import NotFoundError, UsageError

PREFIX = "/scenario/"
_MEGABYTE = 1 << 20
MAX_MS = 600_000
MAX_BOMB_MEGABYTES = 512
ENDLESS_BYTES = 512 * _MEGABYTE
_MAX_HEADER_KILOBYTES = 4096
_FILL_CHARS = 4000
_WORD = re.compile(r"[A-Za-z0-9_-]{1,40}")


@frozen
class Call:
    """One request, as a scenario sees it."""

    path: str  # what is asked for, without a scenario prefix
    query: Mapping[str, str]
    before: int  # how many requests the same scenario has had here before
    by_prefix: bool  # whether the path named the scenario
    host: str  # the host, without suffix and port
    url: Callable[[str, str], str]  # the URL of a host and a path

    def number(self, name: str, default: int, most: int) -> int:
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


@frozen
class Scenario:
    """A named way to misbehave."""

    name: str
    purpose: str  # one line, with the parameters that it takes and their defaults
    act: Act


def _notice(status: int, title: str, text: str, *headers: tuple[str, str]) -> Reply:
    page = (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n<h1>{title}</h1>\n<p>{text}</p>\n</body>\n</html>\n"
    )
    return Reply(page.encode(), status, headers=headers)


def not_found(path: str) -> Reply:
    """What any shop answers where it has no page."""
    return _notice(404, "Not on these shelves", f"We looked twice, but there is nothing at {escape(path)}.")


def _slow(call: Call, page: Page) -> Reply:
    return page(call.path).but(delay=call.number("ms", 1500, MAX_MS) / 1000)


def _too_many(call: Call, _page: Page) -> Reply:
    wait = call.number("after", 2, MAX_MS)
    return _notice(429, "One at a time, please", "Too many requests.", ("Retry-After", str(wait)))


def _unavailable(call: Call, _page: Page) -> Reply:
    wait = call.number("after", 2, MAX_MS)
    return _notice(503, "Back in a moment", "We are taking stock.", ("Retry-After", str(wait)))


def _recovers(call: Call, page: Page) -> Reply:
    if call.before >= call.number("times", 2, MAX_MS):
        return page(call.path)
    return _notice(503, "Back in a moment", "We are taking stock.", ("Retry-After", "1"))


def _to(status: int, where: str) -> Reply:
    location = quote(where, safe=":/?=&")
    return _notice(
        status, "This page has moved", f'It is <a href="{location}">here</a> now.', ("Location", location)
    )


def _redirect_side(side: str, status: int, call: Call, page: Page) -> Reply:
    wanted = f"{side}.{call.bare_host}"
    return page(call.path) if call.host == wanted else _to(status, call.url(wanted, call.path))


def _redirect_away(call: Call, _page: Page) -> Reply:
    elsewhere = "german" if call.bare_host == "plain" else "plain"
    return _to(302, call.url(elsewhere, call.path))


def _redirect_loop(call: Call, _page: Page) -> Reply:
    turn = call.number("turn", 0, 9)
    here = f"{PREFIX}redirect-loop{call.path}" if call.by_prefix else call.path
    return _to(302, f"{here}?turn={(turn + 1) % 3}")


def _bot_block(_call: Call, _page: Page) -> Reply:
    return _notice(
        200,
        "Attention required",
        "Please verify you are human: solve the captcha below. <img src='/favicon.png' alt='captcha'>",
    )


def _bot_block_clears(call: Call, page: Page) -> Reply:
    return page(call.path) if call.before % 2 else _bot_block(call, page)


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
    return page(call.path).but(
        headers=tuple((f"X-Ledger-{i}", "entry-" * (_FILL_CHARS // 6)) for i in range(count))
    )


SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        Scenario("slow", "the page, after `ms` milliseconds (1500)", _slow),
        Scenario("404", "status 404", lambda call, _: not_found(call.path)),
        Scenario(
            "403",
            "status 403",
            lambda *_: _notice(403, "Members and friends only", "The door is locked for this visitor."),
        ),
        Scenario("429", "status 429 with Retry-After of `after` seconds (2)", _too_many),
        Scenario(
            "429-bare",
            "status 429 without Retry-After",
            lambda *_: _notice(429, "One at a time, please", "Too many requests."),
        ),
        Scenario("503", "status 503 with Retry-After of `after` seconds (2)", _unavailable),
        Scenario("503-recovers", "status 503 for `times` requests (2), then the page", _recovers),
        Scenario("redirect", "302 to the page behind the prefix", lambda call, _: _to(302, call.target)),
        Scenario(
            "redirect-permanent", "301 to the page behind the prefix", lambda call, _: _to(301, call.target)
        ),
        Scenario(
            "redirect-www", "301 to the same page on the shop's www host", partial(_redirect_side, "www", 301)
        ),
        Scenario(
            "redirect-host", "302 to the same page on the shop's m host", partial(_redirect_side, "m", 302)
        ),
        Scenario("redirect-away", "302 to the same path of the plain shop, another site", _redirect_away),
        Scenario("redirect-loop", "302 in a circle of three", _redirect_loop),
        Scenario("bot-block", "status 200 with a captcha instead of the page", _bot_block),
        Scenario(
            "bot-block-clears", "the captcha on every other request, the page between", _bot_block_clears
        ),
        Scenario(
            "truncated",
            "the full Content-Length, half the body, connection closed",
            lambda call, page: page(call.path).but(ending=Ending.CUT),
        ),
        Scenario(
            "charset",
            "declares `declared` (utf-8), sends `sent` (windows-1252)",
            partial(_recoded, "utf-8", "windows-1252"),
        ),
        Scenario(
            "charset-reversed",
            "declares `declared` (iso-8859-1), sends `sent` (utf-8)",
            partial(_recoded, "iso-8859-1", "utf-8"),
        ),
        Scenario("empty", "status 200, text/html, no body", lambda *_: Reply()),
        Scenario("binary", "an image's bytes as text/html", _binary),
        Scenario("endless", "a chunked body that ends after 512 MB", _endless),
        Scenario("gzip-bomb", "a gzip body that unfolds to `mb` megabytes (256)", _gzip_bomb),
        Scenario(
            "reset",
            "the connection is reset before any answer",
            lambda call, page: page(call.path).but(ending=Ending.RESET),
        ),
        Scenario("huge-headers", "the page with `kb` KB of headers (256)", _huge_headers),
        *starmap(Scenario, SCENES),
    )
}


def split_prefix(path: str) -> tuple[str, str]:
    """The scenario that `path` names, or none, and the path behind it."""
    if not path.startswith(PREFIX):
        return "", path
    name, _, rest = path.removeprefix(PREFIX).partition("/")
    if name not in SCENARIOS:
        raise NotFoundError(f"there is no scenario {name!r}")
    return name, f"/{rest}"
