"""Shows captures: finds the one that is meant, and makes of its body what may go out."""

from __future__ import annotations

import shlex
from itertools import chain
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from crawler.archive.absent import neighbours, purge_of, tombstone
from crawler.archive.asked import (
    AS_STORED,
    EMBEDDED,
    Asked,
    address,
    http_date,
    link,
    links_of,
    timestamp_of,
)
from crawler.archive.lookup import Capture, Chosen, latest, near, same_second, which_are_there
from crawler.archive.rewriting import Place, Shown, absolute, shown_page, shown_style
from crawler.archive.showable import A_REDIRECT, AS_TEXT, Form, Showable, headers_of, showable, status_of
from crawler.db.models import Record, WarcFile
from crawler.errors import IntegrityError, NotFoundError
from crawler.evidence.blobs import BlobMissingError
from crawler.evidence.bodies import Bodies, BodyGoneError, BodyMissingError, Finding
from crawler.evidence.warc_checks import known_finding
from crawler.html.parse import as_utf8, charset_of
from crawler.warc.cdxj import stored_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from datetime import datetime

    from crawler.archive.absent import Purge, Tombstone
    from crawler.db.engine import Database
    from crawler.evidence.blobs import BlobStore
    from crawler.evidence.bodies import Body

MAX_PAGE_BYTES = 32 * 1024 * 1024  # of a page or a text that is read as a whole
MAX_HOPS = 10
_BEGIN_BYTES = 512
_WHY_NOT = {
    Finding.DAMAGED: "the part of the file in which it lies is damaged",
    Finding.MISSING: "its file is missing",
}


class NotCapturedError(NotFoundError):
    """There is no capture of that URL, nor a trace of one."""

    code = "not_captured"

    def __init__(self, url: str, near_by: list[Capture], message: str = "") -> None:
        """Say so; `near_by` are captures of pages beside it."""
        super().__init__(
            message or f"there is no capture of {url}", hint=f"vitrine crawl site {shlex.quote(url)}"
        )
        self.url = url
        self.near_by = near_by


class CaptureGoneError(NotFoundError):
    """That capture is not kept any more."""

    code = "capture_gone"
    http_status = 410

    def __init__(self, url: str, stone: Tombstone | None, near_by: list[Capture], message: str = "") -> None:
        """Say what was there; `near_by` are captures of the same URL that are."""
        when = f" of {stone.shown_time}" if stone else ""
        super().__init__(message or f"the capture{when} of {url} is gone: {stone.why if stone else 'erased'}")
        self.url = url
        self.stone = stone
        self.near_by = near_by


class CaptureDamagedError(NotFoundError):
    """The file that holds that capture is damaged or missing."""

    code = "capture_damaged"

    def __init__(self, capture: Capture, near_by: list[Capture], why: str) -> None:
        """Say so; `near_by` are captures of the same URL, the nearest in time first."""
        when = f"{capture.captured_at:%Y-%m-%d %H:%M:%S}Z"
        super().__init__(
            f"the capture of {when} of {capture.url} cannot be shown: {why}",
            hint="`vitrine warcs verify FILE` reads the whole file" if capture.file else "",
        )
        self.url = capture.url
        self.near_by = near_by


class PurgedError(NotFoundError):
    """Everything of that domain was purged, and that URL was not captured since."""

    code = "purged"
    http_status = 410

    def __init__(self, url: str, purge: Purge, near_by: list[Capture]) -> None:
        """Say when; `near_by` are captures of pages beside it, which were made since."""
        super().__init__(
            f"what was kept of {purge.domain} was purged on {purge.at:%Y-%m-%d %H:%M}Z, and {url} was not"
            " captured since; whether it was there before is not kept"
        )
        self.url = url
        self.near_by = near_by


class RedirectLoopError(NotFoundError):
    """The archived redirects lead in a circle."""

    code = "redirect_loop"


@frozen
class Answer:
    """What goes out."""

    status: int
    headers: list[tuple[str, str]]
    body: Iterable[bytes]
    capture: Capture | None = None
    shown: Shown | None = None


class Replay:
    """Shows captures, at the origin that is given where addresses need one."""

    def __init__(self, database: Database, blobs: BlobStore, origin: str = "", pages: str = "") -> None:
        """Pages that a window shows lie at `pages`, what they are shown with lies at `origin`."""
        self.database = database
        self.origin = origin
        self.pages = pages
        self._bodies = Bodies(database, blobs)

    def choose(self, url: str, at: datetime | None, *, embedded: bool = False) -> Chosen:
        """The capture that is meant; the newest one without a time."""
        with self.database.read() as db:
            if at is None:
                chosen = latest(db, url)
            else:
                around = near(db, url, at)
                chosen = around.chosen(embedded=embedded)
                is_asked = chosen and same_second(chosen.capture.captured_at, at)
                if around.is_gone and not is_asked:
                    raise CaptureGoneError(url, tombstone(db, url, at), around.captures)
            if chosen is None:
                raise self._absent(url)
        return chosen

    def _absent(self, url: str, message: str = "") -> NotFoundError:
        with self.database.read() as db:
            if stone := tombstone(db, url):
                return CaptureGoneError(url, stone, [])
            near_by = neighbours(db, url)
            if purge := purge_of(db, url):
                return PurgedError(url, purge, near_by)
            return NotCapturedError(url, near_by, message)

    def content(self, asked: Asked) -> Answer:
        """What is shown of a capture, or where its redirect leads."""
        chosen = self.choose(asked.url, asked.at, embedded=asked.modifier in EMBEDDED)
        capture = chosen.capture
        is_followed = capture.is_redirect and asked.modifier != AS_STORED
        if is_followed and (location := self.leads_to(capture, asked.modifier)):
            return self._redirect(capture, location)
        return self._answer(capture, asked)

    def leads_to(self, capture: Capture, modifier: str) -> str | None:
        """Where in the archive an archived redirect leads; None where it leads nowhere at all."""
        target, seen, here = self._target(capture), {capture.record_id}, capture
        first: str | None = None
        for _ in range(MAX_HOPS):
            if target is None:
                return first
            following = self._following(here, target)
            first = first or address(following.url, timestamp_of(following.captured_at), modifier)
            if not following.is_redirect:
                return first
            if following.record_id in seen:
                break
            seen.add(following.record_id)
            here, target = following, self._target(following)
        raise RedirectLoopError(f"the archived redirects of {capture.url} lead in a circle")

    def _target(self, capture: Capture) -> str | None:
        body = self._body(capture)
        body.close()
        return absolute(capture.url, body.location) if body.location else None

    def _following(self, capture: Capture, target: str) -> Capture:
        """The capture that a redirect led to; from http to https, it is one of the same key."""
        at = capture.captured_at
        with self.database.read() as db:
            if stored_key(target) == capture.url_key:
                others = [each for each in near(db, target, at).captures if not each.is_redirect]
                if not others:
                    raise RedirectLoopError(
                        f"{capture.url} only ever led to {target}, of which there is no capture"
                    )
                return others[0]
            chosen = near(db, target, at).chosen()
        if chosen is None:
            raise self._absent(target, f"{capture.url} led to {target} then, of which there is no capture")
        return chosen.capture

    def _redirect(self, capture: Capture, location: str) -> Answer:
        headers = [("Location", location), *headers_of(A_REDIRECT)]
        return Answer(302, [*headers, *self._memento_headers(capture)], (), capture)

    def _answer(self, capture: Capture, asked: Asked) -> Answer:
        body = self._body(capture)
        begin, pieces = _begun(body.pieces)
        declared = body.content_type or capture.mime_type or ""
        how = showable(declared, begin)
        beside = [*self._memento_headers(capture), ("ETag", f'"r{capture.record_id}"')]
        if asked.modifier == AS_STORED:
            headers = headers_of(how, as_stored=True)
            headers[0] = ("Content-Type", _header_safe(declared) or "application/octet-stream")
            return Answer(status_of(capture.status), [*headers, *beside], pieces, capture)
        shown, how, out = self._shown(capture, how, declared, pieces, is_framed=asked.modifier == "if_")
        return Answer(status_of(capture.status), [*headers_of(how), *beside], out, capture, shown)

    def _shown(
        self, capture: Capture, how: Showable, declared: str, pieces: Iterator[bytes], *, is_framed: bool
    ) -> tuple[Shown | None, Showable, Iterable[bytes]]:
        """A body as it may go out; a page of which nothing can be made is shown as text."""
        if how.form in {Form.AS_IT_IS, Form.FILE}:
            return None, how, pieces
        body = _all_of(pieces)
        place = Place(capture.url, timestamp_of(capture.captured_at), self.origin, is_framed, self.pages)
        if how.form is Form.STYLE:
            style = shown_style(body, declared, place)
            return style, how, (style.body,)
        if how.form is Form.PAGE:
            page = shown_page(body, declared, place, self._there)
            if not page.problem:
                return page, how, (page.body,)
        return None, AS_TEXT, (as_utf8(body, charset_of(body, declared)),)

    def _there(self, urls: Collection[str]) -> Collection[str]:
        """Those of some addresses that were captured."""
        with self.database.read() as db:
            return which_are_there(db, urls)

    def _memento_headers(self, capture: Capture) -> list[tuple[str, str]]:
        here = link(
            address(capture.url, timestamp_of(capture.captured_at), origin=self.pages),
            "memento",
            capture.captured_at,
        )
        return [
            ("Memento-Datetime", http_date(capture.captured_at)),
            ("Link", links_of(capture.url, self.pages, here)),
        ]

    def _body(self, capture: Capture) -> Body:
        """A capture's body; why it is not there is told as a page can show it."""
        if (known := known_of(self.database, capture)) not in {Finding.INTACT, Finding.MISSING}:
            raise damaged(self.database, capture, known)
        try:
            body = self._bodies.of_record(capture.record_id)
            return evolve(body, pieces=self._whole(capture, body.pieces))
        except BodyGoneError as error:
            raise CaptureGoneError(capture.url, None, [], str(error)) from error
        except (BodyMissingError, OSError) as error:
            raise damaged(self.database, capture, Finding.MISSING) from error
        except IntegrityError as error:
            raise damaged(self.database, capture, Finding.DAMAGED) from error

    def _whole(self, capture: Capture, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """The pieces of a capture's body; damage that shows later is told like damage at the beginning."""
        try:
            yield from pieces
        except IntegrityError as error:
            raise damaged(self.database, capture, Finding.DAMAGED) from error
        except (BlobMissingError, OSError) as error:
            raise damaged(self.database, capture, Finding.MISSING) from error


def known_of(database: Database, capture: Capture) -> Finding:
    """Return what checks of its WARC file found out about a capture."""
    if capture.file is None:
        return Finding.INTACT
    with database.read() as db:
        record = db.get_one(Record, capture.record_id)
        return known_finding(db.get_one(WarcFile, record.warc_file_id), record)


def damaged(database: Database, capture: Capture, finding: Finding) -> CaptureDamagedError:
    """Return the error that says so, with the other captures of the URL around that time."""
    with database.read() as db:
        around = near(db, capture.url, capture.captured_at).captures
    others = [each for each in around if each.record_id != capture.record_id]
    return CaptureDamagedError(capture, others, _WHY_NOT[finding])


def _begun(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """How a body begins, and all of it."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _BEGIN_BYTES:
            break
    return b"".join(held)[:_BEGIN_BYTES], chain(held, pieces)


def _all_of(pieces: Iterator[bytes]) -> bytes:
    """A body, up to the size of what is written anew."""
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) > MAX_PAGE_BYTES:
            del held[MAX_PAGE_BYTES:]
            break
    return bytes(held)


def _header_safe(text: str) -> str:
    return text.encode("ascii", "ignore").decode().translate(dict.fromkeys(range(32)))[:200]
