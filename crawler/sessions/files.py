"""The files of a page: named and packed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from crawler.evidence import naming, packing

if TYPE_CHECKING:
    from crawler.sessions.items import PageCapture
    from crawler.sessions.visit import Visit


@frozen
class KeptFile:
    """A published file, and the row that it gets."""

    type: str
    uri: str
    packed: packing.Packed
    content_type: str | None
    charset: str | None
    is_shared: bool = False  # named by its digest: what is there already is the same


def files_of(visit: Visit, capture: PageCapture) -> list[KeptFile]:
    """A capture's files, named and packed."""
    folder = naming.session_folder(visit.order.domain, visit.fence.session_id, visit.fence.epoch)
    kinds = (
        ("html_gz", capture.body, packing.gzipped, capture.content_type, capture.charset),
        ("visible_text", capture.visible_text, packing.plain, "text/plain", "utf-8"),
        ("features_json", capture.features, packing.plain, "application/json", "utf-8"),
    )
    return [
        KeptFile(
            kind,
            naming.page_file(
                folder,
                # a run has many pages of every type
                page_type=naming.SPIDER_PAGE if visit.order.run_id else capture.page_type,
                viewport=capture.viewport,
                page_id=capture.page_id,
                artifact_type=kind,
            ),
            pack(content),
            content_type,
            charset,
        )
        for kind, content, pack, content_type, charset in kinds
        if content is not None
    ] + _media(folder, capture)


def _media(folder: str, capture: PageCapture) -> list[KeptFile]:
    """What is no page lies under its digest."""
    if capture.media is None:
        return []
    packed = packing.plain(capture.media)
    uri = naming.media_file(folder, packed.content_sha256, capture.content_type)
    return [KeptFile("media", uri, packed, capture.content_type, None, is_shared=True)]
