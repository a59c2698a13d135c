"""A captured page as it may be shown: every address leads into the archive, and nothing in it can act. Pure.

The page is parsed once and written anew from the tree. Of what comes out every tag is one that was written
here, with attributes that were looked at here: what a browser's parser makes of it can be less, never more.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from attrs import Factory, define, frozen
from selectolax.lexbor import SelectolaxError

from crawler.archive.pictures import WITH_PICTURES, Candidate, Pictures, candidates, named
from crawler.html.parse import as_utf8, charset_of, parse
from crawler.html.stylesheets import font_sources, restyled

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from crawler.archive.pictures import Attributes

    Known = Callable[[Collection[str]], Collection[str]]

MAX_URL_CHARS = 8192
MAX_RESOURCES = 1_000
MAX_CHOICES = 5_000  # addresses of pictures that are looked up for a page
MAX_LOST_CHARS = 200
MAX_STYLE_BYTES = 4 * 1024 * 1024
FORM_NOTE = "Forms of archived pages lead nowhere"
_VOID = frozenset(
    {
        "area", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
        "meta", "param", "source", "track", "wbr",
    }
)  # fmt: skip
# What is there to act, or to hide what is in it from this pass.
_LEFT_OUT = frozenset(
    {
        "script", "base", "applet", "template", "embed", "noembed", "noframes", "param", "portal",
        "fencedframe",
    }
)  # fmt: skip
_AS_PREFORMATTED = frozenset({"xmp", "plaintext", "listing"})
_ANIMATIONS = frozenset({"animate", "set", "animatetransform", "animatemotion"})
# pywb's words for what an address is asked for; a page without one is shown with its frame.
PAGE, FRAME, STYLE, PICTURE, MEDIA = "", "if_", "cs_", "im_", "mp_"
_OUT_OF_FRAMES = frozenset({"_top", "_parent", "_blank", "_new"})
_ADDRESSES = frozenset(
    {
        "href", "xlink:href", "src", "data", "poster", "background", "longdesc", "cite", "lowsrc", "dynsrc",
        "code", "codebase", "archive", "classid", "profile", "altimg", "icon", "object",
    }
)  # fmt: skip
_STYLED = frozenset(
    {
        "style", "fill", "stroke", "filter", "clip-path", "mask", "marker", "marker-start", "marker-mid",
        "marker-end", "cursor",
    }
)  # fmt: skip
_SETS = frozenset({"srcset", "imagesrcset"})
_DROPPED = frozenset(
    {
        "action", "formaction", "formmethod", "formtarget", "ping", "integrity", "crossorigin", "nonce",
        "srcdoc", "manifest", "target", "download", "http-equiv", "sandbox", "allow", "csp", "autofocus",
        "is", "shadowrootmode", "shadowroot", "referrerpolicy", "attributionsrc", "accesskey",
        "usercontent", "method", "enctype", "popovertarget", "popovertargetaction", "command", "commandfor",
        "browsingtopics", "sharedstoragewritable", "credentialless", "autoplay",
    }
)  # fmt: skip
_LINKED = {"stylesheet": STYLE, "icon": PICTURE, "apple-touch-icon": PICTURE, "mask-icon": PICTURE}
_OPEN_TO_LINKS = frozenset({"a", "area"})
_SOURCES = {"iframe": FRAME, "frame": FRAME, "img": PICTURE, "image": PICTURE, "input": PICTURE}
_TAG = re.compile(r"[a-zA-Z][a-zA-Z0-9._-]*")
_ATTRIBUTE = re.compile(r"[a-zA-Z_:][a-zA-Z0-9:._-]*")
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9._~@/-]*(?:\?[A-Za-z0-9._~&=-]+)?")
_HEX = re.compile(r"%(?![0-9a-fA-F]{2})")
_EDGES = "".join(map(chr, range(33)))
_BREAKS = re.compile(r"[\t\n\r]")
_HAS_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_STEP_UP = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)
_PICTURE_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif|x-icon|bmp|svg\+xml)[;,]", re.IGNORECASE)
_FONT_DATA = re.compile(r"data:(?:font/|application/(?:(?:x-)?font|octet-stream))", re.IGNORECASE)
_NOTHING_DATA = re.compile(r"data:,?\Z", re.IGNORECASE)
_PROGRAM = re.compile(r"(?:text|application)/(?:x-)?(?:java|ecma|live|j)script", re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!doctype\s[\w\s\"'./:+=-]{0,300}>", re.IGNORECASE)
_WEB = ("http", "https")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


@frozen
class Place:
    """Where a capture is shown."""

    url: str
    timestamp: str  # of the capture, 14 digits: what belongs to it is looked for near that time
    origin: str = ""  # of what archived pages are shown with, where addresses need one
    is_framed: bool = False  # as a part of another archived page
    pages: str = ""  # the origin of the pages that a window shows


@frozen
class Shown:
    """A capture, ready to be shown."""

    body: bytes
    resources: Mapping[str, str] = Factory(dict)  # what it asks for to look as it did, and as what
    lost: tuple[str, ...] = ()  # addresses that lead nowhere in an archive, of what it was shown with
    fonts: tuple[tuple[str, ...], ...] = ()  # addresses one of which is enough
    is_cut: bool = False  # it asks for more than is named here
    forms: int = 0  # that were disabled
    scripts: int = 0  # that were left out
    problem: str = ""  # why it can only be shown as text


def shown_page(body: bytes, content_type: str, place: Place, there: Known | None = None) -> Shown:
    """Return a page as it may be shown, or the problem where no page can be made of it.

    `there` returns those of some addresses that were captured; without it all of them count as captured.
    """
    try:
        document = parse(body, content_type=content_type, closely=True)
    except (SelectolaxError, MemoryError):  # a process that serves pages has a bound on its memory
        return Shown(b"", problem="too_large")
    root = document.tree.root
    if document.problem or root is None:
        return Shown(b"", problem=document.problem or "empty_page")
    source = as_utf8(body[:4096], document.charset)
    kind = _DOCTYPE.search(source.partition(b"<html")[0])
    base = _base_of(document.tree.css_first("base[href]"), place.url)
    writing = _Writing(place, base, Pictures(_knowing(document.tree, base, there)))
    pieces = [kind[0].decode("utf-8", "replace") if kind else "", *writing.page(root)]
    text = "".join(pieces).encode("utf-8", "replace")
    for each in writing.pictures.wanted:
        writing.needed.add(absolute(base, each), each, PICTURE)
    return writing.needed.shown(text, writing.forms)


def shown_style(body: bytes, content_type: str, place: Place) -> Shown:
    """A stylesheet as it may be shown, in UTF-8."""
    charset = charset_of(body[:MAX_STYLE_BYTES], content_type)
    text = as_utf8(body[:MAX_STYLE_BYTES], charset).decode("utf-8", "replace")
    writing = _Writing(place, place.url)
    writing.needed.fonts += font_sources(text, place.url)
    new = restyled(text, writing.style_address)
    return writing.needed.shown(new.encode("utf-8", "replace"))


def _knowing(tree: LexborHTMLParser, base: str, there: Known | None) -> Callable[[str], bool]:
    """Return what tells whether an address of a page was captured; all that matter are looked up at once."""
    if there is None:
        return lambda _: True
    found = (address for node in tree.css(WITH_PICTURES) for address in named(node.attributes))
    urls = {each: url for each in islice(found, MAX_CHOICES) if (url := absolute(base, each))}
    known = there([_without_fragment(url) for url in urls.values()]) if urls else set()

    def is_there(given: str) -> bool:
        url = urls.get(given)
        return _PICTURE_DATA.match(given) is not None or bool(url and _without_fragment(url) in known)

    return is_there


# ── addresses ──


def absolute(base: str, given: str) -> str | None:
    """The web address that a browser would make of `given`; None for what is none."""
    is_plain = _PLAIN_PATH.fullmatch(given) and "//" not in given and "/." not in given
    if is_plain and len(given) <= MAX_URL_CHARS and (origin := _origin_of(base)):
        return origin + given  # as most are; the long way comes to the same
    return _absolute(base, given)


@lru_cache(maxsize=256)
def _origin_of(base: str) -> str | None:
    found = _absolute(base, "/")
    return None if found is None else found[:-1]


def _absolute(base: str, given: str) -> str | None:
    reference = _BREAKS.sub("", given.strip(_EDGES))
    if len(reference) > MAX_URL_CHARS:
        return None
    scheme = _HAS_SCHEME.match(reference)
    if scheme and scheme[1].lower() not in _WEB:
        return None
    head, mark, tail = _split_off(reference)
    head = head.replace("\\", "/")
    if scheme:
        rest = head[scheme.end() :]
        same = scheme[1].lower() == base.partition(":")[0]
        is_relative = same and not rest.startswith("/")
        head = rest if is_relative else f"{scheme[1].lower()}://{rest.lstrip('/')}"
    elif head.startswith("//"):
        head = "//" + head.lstrip("/")
    try:
        parts = urlsplit(urljoin(base, head + mark + tail))
    except ValueError:
        return None
    if parts.scheme not in _WEB or not parts.netloc or "@" in parts.netloc:
        return None
    netloc = parts.netloc.lower().removesuffix(_DEFAULT_PORTS[parts.scheme])
    return fit(parts._replace(netloc=netloc, path=without_steps(parts.path)).geturl())


def fit(url: str) -> str:
    """`url` as it may stand in a path: no character in it means anything to what stands around it."""
    safe = quote(url, safe="%/:?#[]@!$&()*+,;=-._~|{}^`", errors="replace")
    return _HEX.sub("%25", safe)


def without_steps(path: str) -> str:
    """A path without `.` and `..`, however they are spelt: else a browser would leave the archive by them."""
    kept: list[str] = []
    steps = path.split("/")
    for number, step in enumerate(steps):
        if not _STEP_UP.fullmatch(step):
            kept.append(step)
            continue
        if step.lower().replace("%2e", ".") == ".." and len(kept) > 1:
            kept.pop()
        if number == len(steps) - 1:
            kept.append("")
    return "/".join(kept) if not kept or not kept[0] else "/" + "/".join(kept)


def _split_off(reference: str) -> tuple[str, str, str]:
    """What stands before the query or the fragment, and the rest."""
    found = re.search(r"[?#]", reference)
    if found is None:
        return reference, "", ""
    return reference[: found.start()], found[0], reference[found.end() :]


def _base_of(node: LexborNode | None, url: str) -> str:
    given = node.attributes.get("href") if node is not None else None
    return (absolute(url, given) if given else None) or url


# ── writing ──


@define
class _Needed:
    """What a page asks for to look as it did."""

    resources: dict[str, str] = Factory(dict)
    lost: dict[str, None] = Factory(dict)
    fonts: list[tuple[str, ...]] = Factory(list)
    scripts: int = 0
    is_cut: bool = False

    def add(self, target: str | None, given: str, kind: str) -> None:
        """Take in an address; without a target it leads nowhere in an archive."""
        self.is_cut = self.is_cut or len(self.resources) + len(self.lost) >= MAX_RESOURCES
        if self.is_cut or _NOTHING_DATA.match(given.strip(_EDGES)):
            return
        if target is None:
            self.lost[given[:MAX_LOST_CHARS]] = None
        else:
            self.resources.setdefault(_without_fragment(target), kind)

    def leave_out(self, name: str, attributes: Attributes, base: str) -> None:
        """Take in what is left out, and may be missed."""
        self.scripts += name == "script" and _is_program(attributes)
        if name == "embed" and (given := attributes.get("src")):
            self.add(None, absolute(base, given) or given, MEDIA)

    def shown(self, body: bytes, forms: int = 0) -> Shown:
        """Return a body with what it asks for."""
        fonts = tuple(self.fonts)
        return Shown(body, self.resources, tuple(self.lost), fonts, self.is_cut, forms, self.scripts)


@define
class _Writing:
    """A pass over a tree."""

    place: Place
    base: str
    pictures: Pictures = Factory(lambda: Pictures(lambda _: True))
    needed: _Needed = Factory(_Needed)
    forms: int = 0
    styles_left: int = MAX_STYLE_BYTES  # of all that stand in the page itself

    def page(self, root: LexborNode) -> Iterator[str]:
        """A page's tags and texts in their order."""
        ends: list[tuple[LexborNode, str]] = []
        node: LexborNode | None = root
        while node is not None:
            start, end, goes_in = self._written(node)
            yield start
            below = node.first_child if goes_in else None
            if below is not None:
                ends.append((node, end))
                node = below
                continue
            yield end
            while node.next is None and ends:
                node, end = ends.pop()
                yield end
            node = node.next if ends or node.mem_id != root.mem_id else None

    def style_address(self, given: str) -> str | None:
        """An address in a stylesheet."""
        if given.startswith("#"):
            return given
        if _PICTURE_DATA.match(given) or _FONT_DATA.match(given):
            return given
        return self._resource(given, MEDIA)

    def _written(self, node: LexborNode) -> tuple[str, str, bool]:
        """How a node begins and ends, and whether there is something in between."""
        tag = node.tag or ""
        name = tag.lower()
        if tag == "-text":
            return self._text(node), "", False
        attributes = {} if tag[:1] in "-!" else node.attributes
        if tag[:1] in "-!" or name in _LEFT_OUT or _is_idle(name, attributes):
            self.needed.leave_out(name, attributes, self.base)
            return "", "", False
        if name == "noscript" and self.pictures.has_all(node.css("img")):
            return "", "", False
        if name in _AS_PREFORMATTED:
            return "<pre>", "</pre>", True
        return self._element(tag, name, attributes) if _TAG.fullmatch(tag) else ("", "", True)

    def _element(self, tag: str, name: str, attributes: dict[str, str | None]) -> tuple[str, str, bool]:
        attributes = self.pictures.placed(name, attributes)
        start = f"<{tag}{''.join(self._attributes(name, attributes))}>"
        if name in _VOID:
            return start, "", False
        if name == "head":
            start += '<meta charset="utf-8">'
        if name in {"pre", "textarea"}:
            start += "\n"  # the first one does not count
        return start, f"</{tag}>", name != "iframe"

    def _text(self, node: LexborNode) -> str:
        text = node.text_content or ""
        around = node.parent
        if around is None or (around.tag or "").lower() != "style":
            return _escaped(text)
        styles = self._restyled(text)
        return _escaped(styles) if _is_drawn(around) else styles

    def _restyled(self, text: str) -> str:
        """Styles within a page, of which a page has so much at most."""
        text = text[: self.styles_left]
        self.styles_left -= len(text)
        self.needed.fonts += font_sources(text, self.base)
        return restyled(text, self.style_address)

    def _attributes(self, name: str, attributes: dict[str, str | None]) -> Iterator[str]:
        if name == "form":
            self.forms += 1
            yield f' title="{FORM_NOTE}"'
            attributes.pop("title", None)
        if name == "iframe":
            yield ' sandbox="allow-top-navigation-by-user-activation"'
        for key, value in attributes.items():
            lower = key.lower()
            if lower.startswith("on") or lower in _DROPPED or not _ATTRIBUTE.fullmatch(key):
                continue
            if value is None:
                yield f" {key}"
            elif lower.startswith("data-"):
                yield f' {key}="{_escaped_value(value)}"'
            else:
                yield from self._attribute(name, key, value, attributes)

    def _attribute(self, name: str, key: str, value: str, attributes: dict[str, str | None]) -> Iterator[str]:
        lower = key.lower()
        new: str | None = value
        if lower in _ADDRESSES:
            new = self._address(name, lower, value, attributes)
            if new is not None and name in _OPEN_TO_LINKS and new[0] != "#" and not self._stays(attributes):
                yield ' target="_top"'
        elif lower in _SETS:
            new = self._set(value)
        elif lower in _STYLED:
            new = self._restyled(value)
        elif name in {"button", "input"} and lower == "type" and value.strip().lower() in {"submit", "image"}:
            new = "button" if name == "button" or value.strip().lower() == "submit" else value
        if new is not None:
            yield f' {key}="{_escaped_value(new)}"'

    def _stays(self, attributes: dict[str, str | None]) -> bool:
        """Whether a link is followed within the part that it stands in."""
        asked = (attributes.get("target") or "").strip().lower()
        return self.place.is_framed and asked not in _OUT_OF_FRAMES

    def _address(self, name: str, key: str, value: str, attributes: dict[str, str | None]) -> str | None:
        """What becomes of an address, by what it is there for."""
        given = value.strip(_EDGES)
        if given.startswith("#"):
            return given
        if name in _OPEN_TO_LINKS and key.endswith("href"):
            return self._link(given, attributes)
        if name == "link":
            return self._resource(given, _link_kind(attributes))
        if key in {"src", "poster", "background", "lowsrc", "href", "xlink:href"}:
            if _PICTURE_DATA.match(given):
                return given
            kind = _SOURCES.get(name, MEDIA)
            return self._framed(given) if kind == FRAME else self._resource(given, kind)
        return None

    def _link(self, given: str, attributes: dict[str, str | None]) -> str | None:
        target = absolute(self.base, given)
        if target is None:
            return None
        if _without_fragment(target) == _without_fragment(self.place.url) and "#" in target:
            return "#" + target.partition("#")[2]
        return self._into(target, FRAME if self._stays(attributes) else PAGE)

    def _framed(self, given: str) -> str | None:
        return None if given.lower().startswith("about:") else self._resource(given, FRAME)

    def _resource(self, given: str, kind: str) -> str | None:
        if not given.strip(_EDGES):
            return None
        target = absolute(self.base, given)
        self.needed.add(target, given, kind)
        return None if target is None else self._into(target, kind)

    def _set(self, value: str) -> str | None:
        """The candidates of a `srcset`."""
        found: list[str] = []
        for each in candidates(value):
            is_data = _PICTURE_DATA.match(each.address)
            new = each.address if is_data else self._resource(each.address, PICTURE)
            if new is not None:
                found.append(str(Candidate(new, each.size)))
        return ", ".join(found) or None

    def _into(self, target: str, kind: str) -> str:
        """The address of a capture of `target`, near the time of this one."""
        origin = self.place.origin if kind else self.place.pages
        return f"{origin}/web/{self.place.timestamp}{kind}/{target}"


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _is_idle(name: str, attributes: dict[str, str | None]) -> bool:
    """What shows nothing, and would only ask for something or lead somewhere."""
    if name == "meta":
        return "http-equiv" in attributes or "charset" in attributes or _named(attributes) == "referrer"
    if name == "link":
        return not _link_kind(attributes)
    if name in _ANIMATIONS:
        return "href" in (attributes.get("attributeName") or attributes.get("attributename") or "").lower()
    return False


def _link_kind(attributes: dict[str, str | None]) -> str:
    words = (attributes.get("rel") or "").lower().split()
    return next((_LINKED[word] for word in words if word in _LINKED), "")


def _named(attributes: dict[str, str | None]) -> str:
    return (attributes.get("name") or "").strip().lower()


def _is_program(attributes: Attributes) -> bool:
    """Whether a script is one that a browser would run, and no data."""
    kind = (attributes.get("type") or "").strip().lower()
    return kind in {"", "module"} or _PROGRAM.match(kind) is not None


def _is_drawn(node: LexborNode) -> bool:
    """Whether an element is part of a drawing or a formula, where a style is text like any other."""
    above: LexborNode | None = node
    while above is not None and (above.tag or "").lower() not in {"svg", "math"}:
        above = above.parent
    return above is not None


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _escaped_value(text: str) -> str:
    return _escaped(text).replace('"', "&quot;")
