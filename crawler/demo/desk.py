"""Decides what is answered: which shop a request means, whether a scenario steps in, which page it gets."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
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
    from collections.abc import Hashable, Mapping

    from crawler.demo.goods import Product
    from crawler.demo.shops import Shop


class PageCache:
    """Answers by key, together never larger than the budget."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._bytes = 0
        self._kept: OrderedDict[Hashable, Reply] = OrderedDict()

    def get(self, key: Hashable) -> Reply | None:
        """The answer under `key`, if it is still here."""
        reply = self._kept.get(key)
        if reply is not None:
            self._kept.move_to_end(key)
        return reply

    def put(self, key: Hashable, reply: Reply) -> None:
        """Keep `reply`, and let go of what no longer fits."""
        before = self._kept.pop(key, None)
        self._bytes += len(reply.body) - (len(before.body) if before else 0)
        self._kept[key] = reply
        while self._bytes > self._budget:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped.body)


DESK_PATH = "/-/"
CACHE_BYTES = 256 << 20


class Desk:
    """All shops of one server, and what they remember between requests."""

    def __init__(self, shops: Mapping[str, Shop], doors: Doors, page_bytes: int) -> None:
        self.shops = shops
        self.doors = doors
        self.log = RequestLog()
        self.day: int | None = None
        self._page_bytes = page_bytes
        self._cache = PageCache(CACHE_BYTES)
        self._fetches: Counter[tuple[str, str]] = Counter()
        self._met: Counter[str] = Counter()

    def shop_of(self, host: str) -> Shop | None:
        """The shop that `host`, a name without suffix, belongs to."""
        return self.shops.get(host.rpartition(".")[2])

    def forget(self) -> None:
        """Go back to the first day: no visits, no log, no set day."""
        self.day = None
        self._fetches.clear()
        self._met.clear()
        self.log.clear()

    def answer(self, request: Request, host: str) -> Reply:
        """What `host` answers to `request`."""
        if request.method not in {"GET", "HEAD"}:
            return Reply(
                b"Nothing here is really for sale.\n", 405, "text/plain", headers=(("Allow", "GET, HEAD"),)
            )
        shop = self.shop_of(host)
        if shop is None:
            return self._directory() if host == FRONT and request.path == "/" else not_found(request.path)
        try:
            reply = self._shop_answers(shop, host, request)
        except CrawlerError as error:
            return Reply(f"{error}\n".encode(), error.http_status, "text/plain; charset=utf-8")
        return zipped(reply) if request.takes_gzip else reply

    def _directory(self) -> Reply:
        """Every shop with what it is for, and every scenario with the path that shows it."""
        shops, scenarios = self.shops.values(), SCENARIOS.values()
        return render("directory.html", shops=shops, scenarios=scenarios, url=self.doors.url)

    def _shop_answers(self, shop: Shop, host: str, request: Request) -> Reply:
        named, path = split_prefix(request.path)
        scenario = named or self._standing(shop, path)
        if not scenario:
            return self._page(shop, path, request, as_gzip=request.takes_gzip)
        key = f"{host}{request.path}" if named else shop.name
        call = Call(path, request.query, self._met[key], bool(named), host, self.doors.url)
        self._met[key] += 1
        return SCENARIOS[scenario].act(call, lambda inner: self._page(shop, inner, request, as_gzip=False))

    def _standing(self, shop: Shop, path: str) -> str:
        """The scenario that the shop itself shows at `path`."""
        spared = path.startswith(EXEMPT) or (shop.only_start and path != "/")
        return "" if spared else shop.scenario

    def _page(self, shop: Shop, path: str, request: Request, *, as_gzip: bool) -> Reply:
        """The page at `path`; out of the cache where it is always the same."""
        if path == "/sitemap.xml":
            return sitemap(shop, request.host)
        if shop.prices_move:
            return self._fresh(shop, path, counts=request.method == "GET")
        key = (shop.name, path, as_gzip)
        reply = self._cache.get(key)
        if reply is None:
            reply = self._fresh(shop, path, counts=False)
            reply = zipped(reply) if as_gzip else reply
            self._cache.put(key, reply)
        return reply

    def _fresh(self, shop: Shop, path: str, *, counts: bool) -> Reply:
        reply, product = page_of(shop, path, lambda item: self._price(shop, item), self._page_bytes)
        if counts and product is not None:
            self._fetches[shop.name, product.slug] += 1
        return reply

    def _price(self, shop: Shop, product: Product) -> int:
        if not shop.prices_move:
            return product.price
        step = self._fetches[shop.name, product.slug] if self.day is None else self.day
        return moved(product.price, product.slug, step)

    def at_desk(self, request: Request) -> Reply:
        """What the server tells about itself, and the two things that it can be told."""
        asked = (request.method, *request.path.removeprefix(DESK_PATH).split("/"))
        match asked:
            case ("GET", "log"):
                return _json(list(map(asdict, self.log.entries(request.query.get("shop", "")))))
            case ("GET", "shops"):
                return _json({name: self.doors.url(name) for name in self.shops})
            case ("POST", "day", number) if number.isdecimal():
                self.day = int(number)
                return _json({"day": self.day})
            case ("POST", "forget"):
                self.forget()
                return _json({"day": None})
        return not_found(request.path)


def _json(value: Any) -> Reply:
    return Reply(json.dumps(value).encode(), content_type="application/json")
