"""What the frame of a page cannot show: what was not captured, is damaged, or is not what it is taken for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import Factory, define

from crawler.archive.asked import PREFIX, Asked, Kind, asked
from crawler.archive.lookup import known_of_each
from crawler.archive.rewriting import FRAME, MEDIA, PICTURE, STYLE
from crawler.archive.showable import is_font, is_vague
from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crawler.archive.lookup import Known
    from crawler.archive.replay import Replay
    from crawler.archive.rewriting import Shown

MAX_DOCUMENTS = 50  # stylesheets and frames of a page that are read
MAX_HOPS = 10
REDIRECTS = 3


@define
class Missing:
    """What cannot be shown of a page."""

    parts: dict[str, None] = Factory(dict)  # addresses that the page names, or a frame in it
    styled: dict[str, None] = Factory(dict)  # addresses that its stylesheets name; it may not use all of them
    scripts: int = 0  # that were left out
    is_cut: bool = False  # there may be more

    def __len__(self) -> int:
        return len(self.parts) + len(self.styled)


def missing_of(replay: Replay, shown: Shown, timestamp: str) -> Missing:
    """Return what cannot be shown of a page; its stylesheets and frames are read for that."""
    return _Search(replay, timestamp).of(shown)


@define
class _Search:
    """A walk from a page through the stylesheets and frames that it is shown with."""

    replay: Replay
    timestamp: str
    found: Missing = Factory(Missing)
    seen: set[str] = Factory(set)
    waiting: list[tuple[Shown, dict[str, None]]] = Factory(list)

    def of(self, shown: Shown) -> Missing:
        """All of it."""
        self.waiting.append((shown, self.found.parts))
        while self.waiting:
            self._look(*self.waiting.pop(0))
        return self.found

    def _look(self, shown: Shown, lists: dict[str, None]) -> None:
        self.found.scripts += shown.scripts
        self.found.is_cut = self.found.is_cut or shown.is_cut
        lists.update(dict.fromkeys(shown.lost))
        there = self._which_can_be_shown(shown.resources)
        enough = {url for font in shown.fonts if there.intersection(font) for url in font}
        fonts = {url for font in shown.fonts for url in font}
        for url, kind in shown.resources.items():
            if url in there:
                self._go_on(url, kind)
            elif url not in enough:
                (self.found.styled if url in fonts else lists).setdefault(url)

    def _which_can_be_shown(self, resources: Mapping[str, str]) -> set[str]:
        with self.replay.database.read() as db:
            known = known_of_each(db, resources)
        return {url for url, captures in known.items() if self._can_be_shown(url, resources[url], captures)}

    def _can_be_shown(self, url: str, kind: str, captures: Iterable[Known]) -> bool:
        """Whether a capture is what it is taken for; the file is read where rows do not tell."""
        if kind in {STYLE, FRAME}:
            return True  # they are read anyway
        if any(_is_surely(each, kind) for each in captures):
            return True
        return self._fits(url, kind)

    def _fits(self, url: str, kind: str) -> bool:
        try:
            said = self._content(url, kind)[1]
        except CrawlerError:
            return False
        return _fits(said, kind)

    def _content(self, url: str, kind: str) -> tuple[Shown | None, str]:
        """Return what is shown of a URL after its redirects, and the content type that goes out."""
        question = Asked(Kind.CAPTURE, url, self.timestamp, kind)
        for _ in range(MAX_HOPS):
            answer = self.replay.content(question)
            headers = dict(answer.headers)
            if "Location" not in headers:
                return answer.shown, headers["Content-Type"]
            question = asked(headers["Location"].partition(PREFIX)[2])
        return None, ""

    def _go_on(self, url: str, kind: str) -> None:
        """Have a stylesheet or a frame looked at, once."""
        if kind not in {STYLE, FRAME} and not url.partition("?")[0].endswith(".css"):
            return
        if url in self.seen:
            return
        self.seen.add(url)
        if len(self.seen) > MAX_DOCUMENTS:
            self.found.is_cut = True
            return
        try:
            shown, said = self._content(url, kind)
        except CrawlerError:
            self.found.parts.setdefault(url)
            return
        if kind == STYLE and not said.startswith("text/css"):
            self.found.parts.setdefault(url)
        elif shown is not None:
            self.waiting.append((shown, self.found.parts if kind == FRAME else self.found.styled))


def _is_surely(known: Known, kind: str) -> bool:
    """Whether a row alone says that a capture can be shown as that."""
    mime_type = (known.mime_type or "").lower()
    is_final = known.status is None or known.status // 100 != REDIRECTS
    return is_final and not known.is_damaged and not is_vague(mime_type) and _fits(mime_type, kind)


def _fits(said: str, kind: str) -> bool:
    if kind == PICTURE:
        return said.startswith("image/")
    is_media = said.startswith(("image/", "audio/", "video/", "text/css")) or is_font(said)
    return kind != MEDIA or is_media
