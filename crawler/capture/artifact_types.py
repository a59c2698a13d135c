"""Every type of stored file: its name, how it is packed, whether it expires (SPEC F143-144). Pure."""

from __future__ import annotations

from attrs import frozen


@frozen
class ArtifactType:
    """What holds of all files of one type; `evidence.files` says what is in them."""

    name: str  # as rows have it
    file_name: str  # empty where the file goes by its digest
    is_gzipped: bool = False
    content_type: str | None = None  # None: whatever the site said, and in its charset
    charset: str | None = None
    expires: bool = False  # has a date on which it goes


HTML = ArtifactType("html_gz", "html.gz", is_gzipped=True, expires=True)
# What the server sent where a browser made more of it: what was judged is the other one.
RESPONSE = ArtifactType("html_gz", "response.html.gz", is_gzipped=True, expires=True)
SCREENSHOT = ArtifactType("screenshot", "screenshot.png", content_type="image/png")
VISIBLE_TEXT = ArtifactType("visible_text", "visible_text.txt", content_type="text/plain", charset="utf-8")
FEATURES = ArtifactType("features_json", "features.json", content_type="application/json", charset="utf-8")
SESSION_LOG = ArtifactType(
    "session_logs_jsonl", "session_logs.jsonl", content_type="application/jsonl", charset="utf-8"
)
# What a session sent and received; whatever it kept of it besides, the page's HTML lies in it.
WARC = ArtifactType("warc", "session.warc.gz", content_type="application/warc", expires=True)
MEDIA = ArtifactType("media", "")

# By name; of those that share one, the one that was judged.
ARTIFACT_TYPES = {
    each.name: each for each in (HTML, SCREENSHOT, VISIBLE_TEXT, FEATURES, SESSION_LOG, WARC, MEDIA)
}
GZIPPED = frozenset(each.name for each in ARTIFACT_TYPES.values() if each.is_gzipped)
EXPIRING = frozenset(each.name for each in ARTIFACT_TYPES.values() if each.expires)
# How the names of such files end; what stands in front is where they come from.
EXPIRING_FILES = tuple(each.file_name for each in ARTIFACT_TYPES.values() if each.expires)
