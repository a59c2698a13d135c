"""Who may come further: operators with the token, and what changes something only from our own pages.

`/api/admin` and `/metrics` answer as seed 003 says, `/admin` and every change as seed 004 says (decision K7).
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from crawler.errors import CrawlerError
from crawler.web.keys import API_HEADERS, Keys
from crawler.web.limits import is_here
from crawler.web.logins import login_of
from crawler.web.site import Site, SiteHere, site_of

FORM_TOKEN = "form_token"  # ruff: ignore[hardcoded-password-string] - a field's name
FORM_HEADER = "x-form-token"
MAX_FIELDS = 100
OWN_ORIGIN = "same-origin"
WHO = "web"  # in the audit log: whoever has the token


class NotConfiguredError(CrawlerError):
    """No token is set, and this environment does not go without one."""

    code = "admin_not_configured"
    http_status = 500


class TokenRequiredError(CrawlerError):
    """The token is missing, or another one."""

    code = "admin_token_required"
    http_status = 403


class NotAuthorizedError(CrawlerError):
    """The key is missing, or another one."""

    code = "admin_key"
    http_status = 401


class ApiKeyError(CrawlerError):
    """The API key is missing, or another one."""

    code = "api_key"
    http_status = 401


class ForeignRequestError(CrawlerError):
    """The request does not come from a page of this site."""

    code = "foreign_request"
    http_status = 403


class ReadOnlyError(CrawlerError):
    """Nothing can be changed here."""

    code = "read_only"
    http_status = 403


def keys_of(site: Site) -> Keys:
    """The token of a site."""
    return Keys(site.settings.admin_token.get_secret_value())


def operators(request: Request, site: SiteHere) -> None:
    """Let in programs with the token; where none is set, those of this machine in development."""
    keys = keys_of(site)
    if keys.is_set:
        if not keys.in_headers(request.headers):
            raise TokenRequiredError("Admin token required")
    elif site.settings.is_guarded:
        raise NotConfiguredError("Admin token not configured for this environment", hint="set ADMIN_TOKEN")
    elif not _is_of_this_machine(request):
        raise TokenRequiredError(
            "Admin token not set, so that nobody from elsewhere gets in", hint="set ADMIN_TOKEN"
        )


def api_clients(request: Request, site: SiteHere) -> None:
    """Let in programs with the API key; where none is set, those of this machine (SPEC F156)."""
    keys = Keys(site.settings.api_secret_key.get_secret_value(), API_HEADERS)
    if keys.is_set:
        if not keys.in_headers(request.headers):
            raise ApiKeyError
    elif site.settings.is_guarded or not _is_of_this_machine(request):
        raise ApiKeyError(
            "no API key is set, so that nobody from elsewhere gets in", hint="set API_SECRET_KEY"
        )


def _is_of_this_machine(request: Request) -> bool:
    """Whether the client is here, and did not come for a name that a proxy serves to others."""
    name = request.url.hostname or ""
    is_local_name = name == "localhost" or is_here(name)
    return is_local_name and request.client is not None and is_here(request.client.host)


def workshop(request: Request, site: SiteHere) -> None:
    """Let in who has the token, or has logged in with it; closed where no token is set."""
    keys = keys_of(site)
    if not keys.is_set:
        raise NotAuthorizedError("Admin access is not configured", hint="set ADMIN_TOKEN")
    request.state.login = login_of(request, keys, site.database)
    if not request.state.login and not keys.in_headers(request.headers):
        raise NotAuthorizedError("Invalid admin key")


def is_operator(request: Request) -> bool:
    """Return whether a request has the token, or the workshop let its login in."""
    return bool(form_login(request)) or keys_of(site_of(request)).in_headers(request.headers)


def form_login(request: Request) -> str:
    """Return the login that the workshop let in, to which the tokens of forms belong."""
    login: str = getattr(request.state, "login", "")
    return login


def by_header(request: Request, site: SiteHere) -> None:
    """Let in programs that show the token, where a GET has something done: a cookie comes unasked."""
    workshop(request, site)
    if site.settings.web_read_only:
        raise ReadOnlyError(hint="WEB_READ_ONLY is set")
    if not keys_of(site).in_headers(request.headers):
        raise NotAuthorizedError("Invalid admin key", hint="send the token in a header")


async def change(request: Request, site: SiteHere, _: Annotated[None, Depends(workshop)]) -> dict[str, str]:
    """Let a change pass that somebody with the token asks for on a page of ours; the form's fields."""
    if site.settings.web_read_only:
        raise ReadOnlyError(hint="WEB_READ_ONLY is set")
    keys = keys_of(site)
    is_program = keys.in_headers(request.headers)
    require_own_origin(request, is_program=is_program)
    fields = await form_fields(request)
    shown = fields.pop(FORM_TOKEN, request.headers.get(FORM_HEADER, ""))
    if not is_program and not keys.is_form_token(shown, form_login(request)):
        raise ForeignRequestError("the form is not from a page of this login", hint="load the page again")
    return fields


def require_own_origin(request: Request, *, is_program: bool) -> None:
    """Refuse what a page of another site has a browser send; a program says of neither where it is from."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        is_own = site == OWN_ORIGIN
    elif origin is not None:
        is_own = origin == f"{request.url.scheme}://{request.headers['host']}"
    else:
        is_own = is_program
    if not is_own:
        raise ForeignRequestError


async def form_fields(request: Request) -> dict[str, str]:
    """The fields of a form; of any other body none."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return {}
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError:
        return {}


Change = Annotated[dict[str, str], Depends(change)]
