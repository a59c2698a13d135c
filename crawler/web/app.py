"""Puts the web side together: routers under one app, behind one entrance."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI
from starlette.middleware import Middleware

from crawler import __version__
from crawler.web import errors
from crawler.web.access import workshop
from crawler.web.answers import ErrorModel, JsonAnswer
from crawler.web.entrance import Entrance
from crawler.web.metrics import Figures
from crawler.web.replay import ContentOnly
from crawler.web.site import Site
from crawler.web.trigger import Trigger
from crawler.web.turns import Turns

if TYPE_CHECKING:
    from crawler.stores import Stores

# Modules whose `router` is part of the app; where two paths fit, the first wins. One after the other is asked
# whether a path is its own: what a page is shown with comes often, so it comes first.
ROUTERS = (
    "replay",
    "api.health",
    "api.audits",
    "api.archive",
    "api.search",
    "api.snapshots",
    "api.exports",
    "api.changes",
    "api.admin",
    "metrics",
    "pages.login",
    "pages.overview",
    "pages.search",
    "pages.sites",
    "pages.snapshot",
    "pages.system",
    "pages.changes",
    "live",
    "pages.static",
)
# The same below /admin, which only who has the token sees.
WORKSHOP = ("house", "jobs", "work", "snapshots", "domains", "retention", "holds")
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorModel, "description": about}
    for status, about in {
        400: "Refused",
        404: "Not found",
        413: "The body is too large",
        414: "The address is too long",
        422: "Not understood",
        429: "Too often",
        500: "Failed",
    }.items()
}


def create_app(stores: Stores) -> FastAPI:
    """The app on these stores, which stay their opener's to close."""
    app = FastAPI(
        title="Vitrine",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=JsonAnswer,
        responses=_REFUSALS,
        middleware=[
            Middleware(Entrance, settings=stores.settings),
            Middleware(ContentOnly, origin=stores.settings.replay_origin),
            Middleware(Turns),
            Middleware(Trigger, stores=stores),
        ],
    )
    app.state.site = Site(stores, Figures(stores.database))
    errors.register(app)
    for name in ROUTERS:
        app.include_router(import_module(f"crawler.web.{name}").router)
    for name in WORKSHOP:
        app.include_router(
            import_module(f"crawler.web.admin.{name}").router, dependencies=[Depends(workshop)]
        )
    return app
