"""Every refusal and failure in one shape: a document for programs, a page for people."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from crawler import logs
from crawler.errors import CrawlerError, FileError, InternalError, NoDatabaseError, RevisionError
from crawler.evidence.blobs import BlobMissingError
from crawler.evidence.bodies import BodyMissingError
from crawler.web.access import NotConfiguredError, is_operator
from crawler.web.answers import JsonAnswer
from crawler.web.rendering import render

log = logs.get_logger(__name__)
API = "/api/"
LOGIN = "/admin/login"
_OF_THE_WORKSHOP = re.compile(r"/admin(?:/[A-Za-z0-9_.\-]+)*/?")
SERVER_AT_FAULT = 500
# Their messages name paths of this machine.
_WITH_PLACES = (BlobMissingError, BodyMissingError, FileError, NoDatabaseError, RevisionError)


def register(app: FastAPI) -> None:
    """Have the app answer errors in this shape."""
    app.add_exception_handler(CrawlerError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _by_status)


def unforeseen(request: Request, error: Exception) -> Response:
    """The answer to a request that broke something; the log has the rest."""
    log.error("http.failed", path=request.url.path, error_type=type(error).__name__, exc_info=error)
    return answer(request, InternalError("Something went wrong here; the log says more."))


def public(request: Request, error: CrawlerError) -> CrawlerError:
    """Return an error without what only operators may read: hosts, ports, users and paths of the server."""
    if not _is_private(error) or is_operator(request):
        return error
    return _KindOnlyError(error)


class _KindOnlyError(CrawlerError):
    """An error by its kind alone."""

    def __init__(self, error: CrawlerError) -> None:
        super().__init__((type(error).__doc__ or "").strip().partition("\n")[0])
        self.code, self.http_status = error.code, error.http_status  # type: ignore[misc]


def _is_private(error: CrawlerError) -> bool:
    is_ours = isinstance(error, NotConfiguredError | InternalError)
    return isinstance(error, _WITH_PLACES) or (error.http_status == SERVER_AT_FAULT and not is_ours)


def note_failure(request: Request, error: CrawlerError) -> None:
    """Log what is the server's fault, and what is not told to everybody."""
    if error.http_status >= SERVER_AT_FAULT or _is_private(error):
        log.error("http.failed", path=request.url.path, code=error.code, error=str(error))


def answer(
    request: Request, error: CrawlerError, problems: list[str] | None = None, status: int | None = None
) -> Response:
    """The document of an error, or its page where a browser asks for one."""
    status = status or error.http_status
    error = public(request, error)
    document = error_document(error, problems)
    if not wants_page(request):
        return JsonAnswer(document, status)
    phrase = HTTPStatus(status).phrase
    if error.code == "admin_key":
        return login_page(request, error, status)
    return render(request, "error.html", status=status, phrase=phrase, error=document, status_code=status)


def login_page(request: Request, error: CrawlerError | None, status: int) -> Response:
    """Where somebody shows the token; it leads on to what was asked for."""
    path = request.url.path
    wanted = request.query_params.get("next", "/admin") if path == LOGIN else path
    return render(request, "login.html", status_code=status, error=error, wanted=local_path(wanted))


def local_path(wanted: str) -> str:
    """An address of the workshop, whatever a link says."""
    return wanted if _OF_THE_WORKSHOP.fullmatch(wanted) else "/admin"


def error_document(error: CrawlerError, problems: list[str] | None = None) -> dict[str, Any]:
    """What is said of an error; `detail` is the same sentence, under the name that clients look for."""
    said = str(error)
    document: dict[str, Any] = {"error": said, "code": error.code, "detail": said}
    if error.hint:
        document["hint"] = error.hint
    if problems:
        document["problems"] = problems
    return document


def wants_page(request: Request) -> bool:
    """Whether a person looks at the answer: a browser says that it takes HTML."""
    is_for_programs = request.url.path.startswith((API, "/audits", "/metrics", "/admin/api/", "/static/"))
    return not is_for_programs and "text/html" in request.headers.get("accept", "")


class InvalidRequestError(CrawlerError):
    """The request cannot be understood."""

    code = "invalid"
    http_status = 422


class RefusedError(CrawlerError):
    """The request is refused."""

    code = "refused"
    http_status = 400


def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, CrawlerError)  # ruff: ignore[assert] - it is registered for nothing else
    note_failure(request, error)
    return answer(request, error)


def _invalid(request: Request, error: Exception) -> Response:
    """Name what is wrong; what was sent is not repeated."""
    assert isinstance(error, RequestValidationError)  # ruff: ignore[assert] - as above
    problems = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()]
    return answer(request, InvalidRequestError(problems[0] if problems else ""), problems)


def _by_status(request: Request, error: Exception) -> Response:
    """What the router refuses: an unknown path, another method."""
    assert isinstance(error, HTTPException)  # ruff: ignore[assert] - as above
    refused = RefusedError(error.detail)
    response = answer(request, refused, status=error.status_code)
    response.headers.update(error.headers or {})
    return response
