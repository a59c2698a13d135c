"""What a running demo answers and remembers."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import asdict

from crawler.demo.addresses import FRONT, Doors
from crawler.demo.goods import moved
from crawler.demo.pages import EXEMPT, not_found, page_of, render, sitemap
from crawler.demo.requestlog import RequestLog
from crawler.demo.scenarios import SCENARIOS, Call, split_prefix
from crawler.demo.wire import Reply, Request, zipped
from crawler.errors import CrawlerError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.demo.goods import Product
    from crawler.demo.shops import Shop

CONTROL_PATH = "/-/"  # where a program asks for the log, and sets the day, on any host
CACHE_BYTES = 256 << 20


class DemoServer:
    """A running demo: its shops, and what they remember. Every method may be called from any thread."""

    def __init__(self, shops: Mapping[str, Shop], doors: Doors, page_bytes: int) -> None:
        self.shops = shops
        self.doors = doors
        self.log = RequestLog()  # what has been asked so far
        self._day: int | None = None
        self._page_bytes = page_bytes
        self._cache: dict[tuple[str, str, bool], Reply] = {}
        self._cached_bytes = 0
        self._fetches: Counter[tuple[str, str]] = Counter()
        self._scenario_requests: Counter[str] = Counter()

    @property
    def port(self) -> int:
        """The port that all shops share, unless each has its own."""
        return self.doors.front[1]

    @property
    def urls(self) -> dict[str, str]:
        """Every shop's start page."""
        return {name: self.url(name) for name in self.shops}

    @property
    def front(self) -> str:
        """The page that lists all shops."""
        return self.url(FRONT)

    def url(self, shop: str, path: str = "/") -> str:
        """The URL of `path` in that shop; also of a side host, such as `www.plain`."""
        return self.doors.url(shop, path)

    def domain(self, shop: str) -> str:
        """The domain that a visit to that shop locks."""
        return self.doors.authority(shop).removeprefix("www.")

    def set_day(self, day: int | None) -> None:
        """Let a day decide the prices that move; with None every fetch moves them again."""
        self._day = day

    def forget(self) -> None:
        """Forget all visits, the log and the day, as if just started."""
        self._day = None
        self._fetches.clear()
        self._scenario_requests.clear()
        self.log.clear()

    def shop_of(self, host: str) -> Shop | None:
        """The shop that `host`, a name without suffix, belongs to."""
        return self.shops.get(host.rpartition(".")[2])

    def answer(self, request: Request, host: str) -> Reply:
        """What `host` answers to `request`."""
        if request.method not in {"GET", "HEAD"}:
            return Reply(
                b"Nothing here is really for sale.\n", 405, "text/plain", headers=(("Allow", "GET, HEAD"),)
            )
        shop = self.shop_of(host)
        if shop is None:
            if host != FRONT or request.path != "/":
                return not_found(request.path)
            values = {"shops": self.shops.values(), "scenarios": SCENARIOS.values(), "url": self.url}
            return render("directory.html", **values)
        try:
            reply = self._shop_answers(shop, host, request)
        except CrawlerError as error:
            return Reply(f"{error}\n".encode(), error.http_status, "text/plain; charset=utf-8")
        return zipped(reply) if request.takes_gzip else reply

    def _shop_answers(self, shop: Shop, host: str, request: Request) -> Reply:
        named, path = split_prefix(request.path)
        scenario = named or _standing_scenario(shop, path)
        if not scenario:
            return self._page(shop, path, request, as_gzip=request.takes_gzip)
        key = f"{host}{request.path}" if named else shop.name
        call = Call(path, request.query, self._scenario_requests[key], bool(named), host, self.url)
        self._scenario_requests[key] += 1
        return SCENARIOS[scenario].act(call, lambda inner: self._page(shop, inner, request, as_gzip=False))

    def _page(self, shop: Shop, path: str, request: Request, *, as_gzip: bool) -> Reply:
        """The page at `path`; out of the cache where it is always the same."""
        if path == "/sitemap.xml":
            return sitemap(shop, request.host)
        if shop.prices_move:
            return self._fresh(shop, path, counts=request.method == "GET")
        key = (shop.name, path, as_gzip)
        if key not in self._cache:
            reply = self._fresh(shop, path, counts=False)
            self._keep(key, zipped(reply) if as_gzip else reply)
        return self._cache[key]

    def _keep(self, key: tuple[str, str, bool], reply: Reply) -> None:
        if self._cached_bytes + len(reply.body) > CACHE_BYTES:
            self._cache.clear()
            self._cached_bytes = 0
        self._cache[key] = reply
        self._cached_bytes += len(reply.body)

    def _fresh(self, shop: Shop, path: str, *, counts: bool) -> Reply:
        reply, product = page_of(shop, path, lambda item: self._price(shop, item), self._page_bytes)
        if counts and product is not None:
            self._fetches[shop.name, product.slug] += 1
        return reply

    def _price(self, shop: Shop, product: Product) -> int:
        if not shop.prices_move:
            return product.price
        step = self._fetches[shop.name, product.slug] if self._day is None else self._day
        return moved(product.price, product.slug, step)


def _standing_scenario(shop: Shop, path: str) -> str:
    """The scenario that the shop itself shows at `path`."""
    spared = path.startswith(EXEMPT) or (shop.only_start and path != "/")
    return "" if spared else shop.scenario


def control(demo: DemoServer, request: Request) -> Reply:
    """Answer a program that asks for the log or the shops, or sets the day."""
    match (request.method, *request.path.removeprefix(CONTROL_PATH).split("/")):
        case ("GET", "log"):
            return _json(list(map(asdict, demo.log.entries(request.query.get("shop", "")))))
        case ("GET", "shops"):
            return _json(demo.urls)
        case ("POST", "day", number) if number.isdecimal():
            demo.set_day(int(number))
            return _json({"day": int(number)})
        case ("POST", "forget"):
            demo.forget()
            return _json({"day": None})
    return not_found(request.path)


def _json(value: Any) -> Reply:
    return Reply(json.dumps(value).encode(), content_type="application/json")
