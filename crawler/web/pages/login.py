"""The door of the workshop: the token is shown once, and the browser keeps a sign that ends by itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from crawler import logs
from crawler.clock import utc_now
from crawler.web import errors
from crawler.web.access import WHO, NotAuthorizedError, form_fields, keys_of, require_own_origin
from crawler.web.answering import see
from crawler.web.keys import COOKIE, COOKIE_PATH, LOGIN_LASTS
from crawler.web.logins import end, login_of
from crawler.web.site import SiteHere

log = logs.get_logger(__name__)
router = APIRouter(prefix="/admin", include_in_schema=False)


async def _form(request: Request) -> dict[str, str]:
    require_own_origin(request, is_program=False)
    return await form_fields(request)


Form = Annotated[dict[str, str], Depends(_form)]


@router.get("/login")
def login_page(request: Request) -> Response:
    """Ask for the token."""
    return errors.login_page(request, None, 200)


@router.post("/login")
def login(request: Request, site: SiteHere, form: Form) -> Response:
    """Let a browser in that shows the token."""
    keys = keys_of(site)
    if not keys.is_set:
        raise NotAuthorizedError("Admin access is not configured", hint="set ADMIN_TOKEN")
    if not keys.opens(form.get("token", "").strip()):
        log.warning("login.refused", client=request.client.host if request.client else "?")
        return errors.login_page(request, NotAuthorizedError("Invalid admin key"), 401)
    answer = see(errors.local_path(form.get("next", "")))
    answer.set_cookie(
        COOKIE, keys.login(utc_now()), max_age=int(LOGIN_LASTS.total_seconds()), path=COOKIE_PATH,
        secure=request.url.scheme == "https", httponly=True, samesite="strict",
    )  # fmt: skip
    return answer


@router.post("/logout")
def logout(request: Request, site: SiteHere, _: Form) -> Response:
    """End the login, and have the browser forget it."""
    if login := login_of(request, keys_of(site), site.database):
        end(site.database, login, actor=WHO)
    answer = see("/")
    answer.delete_cookie(COOKIE, path=COOKIE_PATH)
    return answer
