"""Logins of browsers: whether one still holds, and ending one on the server."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from crawler.clock import utc_now
from crawler.retention.holds import note_action
from crawler.views import audit
from crawler.web.keys import COOKIE, LOGIN_LASTS, Keys

if TYPE_CHECKING:
    from fastapi import Request

    from crawler.db.engine import Database

ENDED = "login.end"
_DIGEST_CHARS = 32


def login_of(request: Request, keys: Keys, database: Database) -> str:
    """Return the cookie of a request whose login holds; else nothing."""
    cookie = request.cookies.get(COOKIE, "")
    if not keys.is_login(cookie, utc_now()):
        return ""
    with database.read() as db:
        # Older entries make no difference: by then the login is over by itself.
        return "" if audit.has_entry(db, ENDED, _subject(cookie), since=db.now - LOGIN_LASTS) else cookie


def end(database: Database, cookie: str, *, actor: str) -> None:
    """End a login for every server on this database, and note it in the audit log."""
    with database.write() as db:
        note_action(db, ENDED, _subject(cookie), actor=actor, now=db.now)


def _subject(cookie: str) -> str:
    return f"login {hashlib.sha256(cookie.encode()).hexdigest()[:_DIGEST_CHARS]}"
