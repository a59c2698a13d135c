"""Forty ordinary things that people do with Scrapy, a spider each.

The docstring names the thing. `site` is the address of the site; `arguments` are added to the command;
`difference` says what Vitrine does otherwise on purpose, and `exit_code` with which code it then ends.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import FormRequest, Request, Spider, signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.http import JsonRequest
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, CSVFeedSpider, Rule, SitemapSpider, XMLFeedSpider

from tests.e2e.things.components import (
    ProductAttrs,
    ProductData,
    ProductItem,
    ProductLoader,
    ProductModel,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler

HERE = "tests.e2e.things.components"


class Thing(Spider):
    """What all of them have: a site, and the first pages to ask for."""

    paths: ClassVar[list[str]] = ["/"]
    arguments: ClassVar[list[str]] = []
    difference: ClassVar[str | None] = None
    exit_code: ClassVar[int] = 0

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.site = site
        self.start_urls = [site + path for path in self.paths]

    def parse(self, response: Any, **_: Any) -> Any:
        """Yield the title."""
        yield title_of(response)


def title_of(response: Any) -> dict[str, Any]:
    """Return a page's title and status."""
    return {"title": response.css("title::text").get(), "status": response.status}


def name_of(response: Any) -> str:
    """Return a product's name."""
    return str(response.css("h1::text").get())


class ManyProducts(Thing):
    """Start with some products, and make an item of each."""

    paths = [f"/p/{number}" for number in range(6)]


# Items


class Dicts(Thing):
    """dicts as items, followed links."""

    name = "dicts"

    def parse(self, response: Any, **_: Any) -> Iterator[Any]:
        yield title_of(response)
        yield from response.follow_all(css="a[href^='/p/']", callback=self.parse_product)

    def parse_product(self, response: Any) -> dict[str, Any]:
        return {"name": name_of(response)}


class Items(ManyProducts):
    """Scrapy's Item classes."""

    name = "items"

    def parse(self, response: Any, **_: Any) -> Any:
        return ProductItem(name=name_of(response))


class Dataclasses(ManyProducts):
    """dataclasses as items."""

    name = "dataclasses"

    def parse(self, response: Any, **_: Any) -> Any:
        return ProductData(name=name_of(response))


class AttrsItems(ManyProducts):
    """attrs classes as items."""

    name = "attrs"

    def parse(self, response: Any, **_: Any) -> Any:
        return ProductAttrs(name=name_of(response))


class PydanticItems(ManyProducts):
    """pydantic models as items."""

    name = "pydantic"

    def parse(self, response: Any, **_: Any) -> Any:
        return ProductModel(name=name_of(response))


class Loaders(ManyProducts):
    """item loaders."""

    name = "loaders"

    def parse(self, response: Any, **_: Any) -> Any:
        loader = ProductLoader(response=response)
        loader.add_css("name", "h1::text")
        return loader.load_item()


class Pipelines(ManyProducts):
    """pipelines that change and drop items."""

    name = "pipelines"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.DropEven": 100, f"{HERE}.AddShop": 400}}

    def parse(self, response: Any, **_: Any) -> Any:
        return {"name": name_of(response)}


class PipelineErrors(ManyProducts):
    """a pipeline that fails for one item."""

    name = "pipeline-errors"
    custom_settings = {"ITEM_PIPELINES": {f"{HERE}.BrokenPipeline": 100}}

    def parse(self, response: Any, **_: Any) -> Any:
        return {"name": name_of(response)}


class Files(Thing):
    """the files pipeline."""

    name = "files"
    custom_settings = {"ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": "files"}

    def parse(self, response: Any, **_: Any) -> Any:
        return {"file_urls": [f"{self.site}/pixel.png", f"{self.site}/paper.pdf"], "name": "files"}


class FeedSettings(ManyProducts):
    """FEEDS with a filter, fields and a second format."""

    name = "feeds"
    custom_settings = {
        "FEEDS": {"names.csv": {"format": "csv", "fields": ["name"], "item_classes": [dict]}},
        "FEED_EXPORT_FIELDS": ["name"],
    }

    def parse(self, response: Any, **_: Any) -> Any:
        return {"name": name_of(response), "other": 1}


# Where requests come from


class AsyncStart(Thing):
    """an async start() with cb_kwargs, meta and priority."""

    name = "async-start"

    async def start(self) -> AsyncIterator[Any]:
        for number in range(5):
            yield Request(
                f"{self.site}/p/{number}",
                cb_kwargs={"number": number},
                meta={"mine": number},
                priority=number,
            )

    def parse(self, response: Any, number: int = -1, **_: Any) -> Any:
        yield {"name": name_of(response), "number": number, "mine": response.meta["mine"]}


class Rules(CrawlSpider):
    """a CrawlSpider with rules."""

    name = "rules"
    arguments: ClassVar[list[str]] = []
    difference = None
    exit_code = 0
    rules = [Rule(LinkExtractor(allow=r"/p/[0-4]$"), callback="parse_product")]

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site + "/"]

    def parse_product(self, response: Any) -> dict[str, Any]:
        return {"name": name_of(response)}


class Sitemap(SitemapSpider):
    """a SitemapSpider."""

    name = "sitemap"
    arguments: ClassVar[list[str]] = []
    difference = None
    exit_code = 0

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sitemap_urls = [site + "/sitemap.xml"]

    def parse(self, response: Any, **_: Any) -> Any:
        yield title_of(response)


class XmlFeed(XMLFeedSpider):
    """an XMLFeedSpider."""

    name = "xml-feed"
    arguments: ClassVar[list[str]] = []
    difference = None
    exit_code = 0

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site + "/names.xml"]

    def parse_node(self, response: Any, selector: Any) -> dict[str, Any]:
        return {"name": selector.xpath("n/text()").get()}


class CsvFeed(CSVFeedSpider):
    """a CSVFeedSpider."""

    name = "csv-feed"
    arguments: ClassVar[list[str]] = []
    difference = None
    exit_code = 0

    def __init__(self, site: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [site + "/names.csv"]

    def parse_row(self, response: Any, row: dict[str, str]) -> Any:
        return dict(row)


class Json(Thing):
    """JSON answers."""

    name = "json"
    paths = ["/names.json"]

    def parse(self, response: Any, **_: Any) -> Any:
        yield from ({"name": name} for name in response.json()["names"])


class Binary(Thing):
    """binary answers."""

    name = "binary"
    paths = ["/paper.pdf", "/pixel.png"]

    def parse(self, response: Any, **_: Any) -> Any:
        yield {"size": len(response.body), "kind": type(response).__name__}


class Encodings(Thing):
    """gzip and other charsets."""

    name = "encodings"
    paths = ["/gzip", "/latin"]


class Login(Thing):
    """a login form with its cookie."""

    name = "login"
    paths = ["/form"]

    def parse(self, response: Any, **_: Any) -> Any:
        yield FormRequest.from_response(response, formdata={"user": "ann"}, callback=self.parse_account)

    def parse_account(self, response: Any) -> Any:
        yield title_of(response)


class CookieJars(Thing):
    """several cookie jars."""

    name = "cookie-jars"

    async def start(self) -> AsyncIterator[Any]:
        for user in ("ann", "bob"):
            yield FormRequest(f"{self.site}/form", formdata={"user": user}, meta={"cookiejar": user})


class Posts(Thing):
    """POST, PUT and JSON requests."""

    name = "posts"

    async def start(self) -> AsyncIterator[Any]:
        yield FormRequest(f"{self.site}/echo", formdata={"a": "1"})
        yield JsonRequest(f"{self.site}/echo", data={"b": 2})
        yield Request(f"{self.site}/echo", method="PUT", body=b"three")

    def parse(self, response: Any, **_: Any) -> Any:
        yield response.json()


class Heads(Thing):
    """HEAD requests."""

    name = "heads"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(f"{self.site}/p/1", method="HEAD")

    def parse(self, response: Any, **_: Any) -> Any:
        yield {"status": response.status, "size": len(response.body)}


class BasicAuth(Thing):
    """HTTP basic authentication."""

    name = "basic-auth"
    paths = ["/auth"]
    http_user = "ann"
    http_pass = "secret"
    http_auth_domain = None


class InlineRequests(Thing):
    """requests awaited inside a callback."""

    name = "inline-requests"

    async def parse(self, response: Any, **_: Any) -> Any:
        other = await self.crawler.engine.download_async(Request(f"{self.site}/p/7"))
        yield {"home": title_of(response), "other": title_of(other)}


class Duplicates(Thing):
    """the filter of duplicates, and dont_filter."""

    name = "duplicates"

    def parse(self, response: Any, **_: Any) -> Any:
        for _number in range(3):
            yield Request(f"{self.site}/p/1", callback=self.parse_product)
        yield Request(f"{self.site}/p/1", callback=self.parse_product, dont_filter=True)

    def parse_product(self, response: Any) -> Any:
        yield title_of(response)


class Depth(Thing):
    """DEPTH_LIMIT."""

    name = "depth"
    paths = ["/chain/0"]
    custom_settings = {"DEPTH_LIMIT": 3}

    def parse(self, response: Any, **_: Any) -> Any:
        yield title_of(response)
        yield from response.follow_all(css="a", callback=self.parse)


class Offsite(Thing):
    """allowed_domains."""

    name = "offsite"
    paths = ["/elsewhere"]
    allowed_domains = ["127.0.0.1"]

    def parse(self, response: Any, **_: Any) -> Any:
        yield title_of(response)
        yield from response.follow_all(css="a", callback=self.parse)


class Robots(Thing):
    """robots.txt."""

    name = "robots"
    paths = ["/private", "/p/1"]


class IdleSignal(Thing):
    """a handler of spider_idle that asks for more."""

    name = "idle-signal"
    left = 2

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> IdleSignal:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_idle, signals.spider_idle)
        return spider

    def on_idle(self) -> None:
        if self.left:
            self.left -= 1
            self.crawler.engine.crawl(Request(f"{self.site}/p/{self.left}", callback=self.parse))
            raise DontCloseSpider


class Jobdir(ManyProducts):
    """JOBDIR."""

    name = "jobdir"
    arguments = ["-s", "JOBDIR=job"]


class Closed(Thing):
    """closed() and stats."""

    name = "closed"

    def closed(self, reason: str) -> None:
        items = self.crawler.stats.get_value("item_scraped_count")
        Path("closed.txt").write_text(f"{reason} {items}", encoding="utf-8")


# Redirects, failures and attempts


class Redirects(Thing):
    """redirects."""

    name = "redirects"
    paths = ["/redirect/3"]

    def parse(self, response: Any, **_: Any) -> Any:
        yield {**title_of(response), "times": response.meta["redirect_times"]}


class HandledRedirects(Thing):
    """dont_redirect and handle_httpstatus_list."""

    name = "handled-redirects"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(
            f"{self.site}/redirect/0", meta={"dont_redirect": True, "handle_httpstatus_list": [302]}
        )

    def parse(self, response: Any, **_: Any) -> Any:
        yield {"status": response.status, "location": response.headers["Location"].decode()}


class MetaRefresh(Thing):
    """meta refresh."""

    name = "meta-refresh"
    paths = ["/refresh"]


class Retries(Thing):
    """pages that come at the second or third try."""

    name = "retries"
    paths = ["/flaky/503/2", "/flaky/500/1", "/flaky/429/1", "/flaky/408/2"]
    custom_settings = {"RETRY_TIMES": 2}


class RetryTimes(Thing):
    """RETRY_TIMES, max_retry_times and dont_retry."""

    name = "retry-times"
    custom_settings = {"RETRY_TIMES": 4}
    exit_code = 3
    difference = "exit 3: some of the pages that it asked for failed"

    async def start(self) -> AsyncIterator[Any]:
        yield Request(f"{self.site}/flaky/500/4", errback=self.on_error)
        yield Request(f"{self.site}/flaky/500/4/once", meta={"max_retry_times": 1}, errback=self.on_error)
        yield Request(f"{self.site}/flaky/500/4/never", meta={"dont_retry": True}, errback=self.on_error)

    def on_error(self, failure: Any) -> Any:
        yield {"error": failure.type.__name__, "path": failure.request.url.removeprefix(self.site)}


class RetryCodes(Thing):
    """RETRY_HTTP_CODES."""

    name = "retry-codes"
    paths = ["/flaky/418/1", "/p/1"]
    custom_settings = {"RETRY_HTTP_CODES": [418]}


class RetryOff(Thing):
    """RETRY_ENABLED=False."""

    name = "retry-off"
    paths = ["/flaky/503/1", "/p/1"]
    custom_settings = {"RETRY_ENABLED": False}
    exit_code = 3
    difference = "exit 3: one of two pages failed"


class RetryInCallback(Thing):
    """get_retry_request in a callback."""

    name = "retry-in-callback"
    paths = ["/flaky/200/2"]

    def parse(self, response: Any, **_: Any) -> Any:
        if "Busy" in response.text:
            yield get_retry_request(response.request, spider=self, reason="busy")
        else:
            yield {**title_of(response), "tries": response.meta["retry_times"]}


class Errbacks(Thing):
    """errbacks for statuses and refused connections."""

    name = "errbacks"
    custom_settings = {"RETRY_TIMES": 1}
    exit_code = 3
    difference = "exit 3: some of the pages that it asked for failed"

    async def start(self) -> AsyncIterator[Any]:
        for url in (f"{self.site}/status/404", f"{self.site}/status/410", "http://127.0.0.1:9/"):
            yield Request(url, errback=self.on_error)
        yield Request(f"{self.site}/p/1")

    def on_error(self, failure: Any) -> Any:
        yield {"error": failure.type.__name__}


class HandledErrors(Thing):
    """404 pages that a callback handles."""

    name = "handled-errors"
    paths = ["/status/404", "/p/1"]
    handle_httpstatus_list = [404]


class CallbackErrors(ManyProducts):
    """a callback that raises."""

    name = "callback-errors"
    exit_code = 3
    difference = "exit 3: a callback failed"

    def parse(self, response: Any, **_: Any) -> Any:
        if response.url.endswith("/3"):
            raise ValueError("three")
        yield title_of(response)


class Timeouts(Thing):
    """DOWNLOAD_TIMEOUT."""

    name = "timeouts"
    paths = ["/slow", "/p/1"]
    custom_settings = {"DOWNLOAD_TIMEOUT": 10, "RETRY_ENABLED": False}
    exit_code = 3
    difference = "exit 3: one of two pages failed"


class MaxSize(Thing):
    """DOWNLOAD_MAXSIZE."""

    name = "max-size"
    paths = ["/big", "/p/1"]
    custom_settings = {"DOWNLOAD_MAXSIZE": 50_000, "RETRY_ENABLED": False}
    exit_code = 3
    difference = "exit 3: one of two pages failed"


# Ends


class Stops(Thing):
    """CloseSpider in a callback."""

    name = "stops"
    custom_settings = {"CONCURRENT_REQUESTS": 1}

    def parse(self, response: Any, **_: Any) -> Any:
        yield title_of(response)
        raise CloseSpider("enough")


class ItemCount(Thing):
    """CLOSESPIDER_ITEMCOUNT."""

    name = "item-count"
    custom_settings = {"CLOSESPIDER_ITEMCOUNT": 1, "CONCURRENT_REQUESTS": 1}


class PageCount(Thing):
    """CLOSESPIDER_PAGECOUNT."""

    name = "page-count"
    custom_settings = {"CLOSESPIDER_PAGECOUNT": 2, "CONCURRENT_REQUESTS": 1}


class NothingToDo(Thing):
    """a spider without requests."""

    name = "nothing-to-do"
    paths = []


class AllFails(Thing):
    """a site of which every page fails."""

    name = "all-fails"
    paths = ["/status/404", "/status/410"]
    exit_code = 1
    difference = "exit 1: no page came"


class StartError(Thing):
    """a start() that raises."""

    name = "start-error"
    nowhere: ClassVar[dict[str, list[str]]] = {}
    exit_code = 1
    difference = "exit 1: the spider failed before its first request"

    async def start(self) -> AsyncIterator[Any]:
        for path in self.nowhere["paths"]:
            yield Request(path)


# Components and settings


class OwnMiddlewares(Thing):
    """downloader and spider middlewares of the project."""

    name = "own-middlewares"
    custom_settings = {
        "DOWNLOADER_MIDDLEWARES": {f"{HERE}.MarkRequests": 543},
        "SPIDER_MIDDLEWARES": {f"{HERE}.RequestLess": 543},
    }

    def parse(self, response: Any, **_: Any) -> Any:
        yield title_of(response)
        yield from response.follow_all(css="a[href^='/p/']", callback=self.parse_product)

    def parse_product(self, response: Any) -> Any:
        yield title_of(response)


class MadeUpAnswers(Thing):
    """a middleware that answers by itself."""

    name = "made-up-answers"
    paths = ["/made-up", "/p/1"]
    custom_settings = {"DOWNLOADER_MIDDLEWARES": {f"{HERE}.AnswerItself": 543}}


class Headers(Thing):
    """the project's own USER_AGENT and DEFAULT_REQUEST_HEADERS."""

    name = "headers"
    paths = ["/echo"]
    custom_settings = {"DEFAULT_REQUEST_HEADERS": {"X-Thing": "yes"}}

    def parse(self, response: Any, **_: Any) -> Any:
        yield response.json()


class Throttled(ManyProducts):
    """AutoThrottle."""

    name = "throttled"
    custom_settings = {
        "AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.05, "AUTOTHROTTLE_MAX_DELAY": 0.1
    }  # fmt: skip


class Arguments(Thing):
    """arguments and settings of the command line."""

    name = "arguments"
    word = "unset"
    arguments = ["-a", "word=one two", "-s", "DEPTH_LIMIT=1", "-s", "MINE=3"]

    def parse(self, response: Any, **_: Any) -> Any:
        settings = self.crawler.settings
        yield {"word": self.word, "depth": settings.getint("DEPTH_LIMIT"), "mine": settings.getint("MINE")}
