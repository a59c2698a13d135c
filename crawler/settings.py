"""Scrapy's settings: the ordered tables of what a request and a page pass through.

Vitrine's own settings (docs/settings.md) stand here too, under the names of their environment
variables, so that `-s NAME=value` works for them as for Scrapy's.

The tables are those with `_BASE` in their names: the ones without, in a spider's `custom_settings` or in a
project that imports all this, add to them, where they would otherwise replace them.
"""

from __future__ import annotations

import sys

from crawler import interrupts

interrupts.end_scrapy_at_once()  # before what follows: loading it takes its time

from scrapy.settings import default_settings as _scrapys

from crawler import egg
from crawler.config import SCRAPYS_NAMES, load_settings
from crawler.errors import ConfigError

try:
    _vitrine = load_settings()
except ConfigError as error:
    sys.stderr.write(f"error[{error.code}]: {error}\nhint: {error.hint}\n")
    raise SystemExit(error.exit_code) from None

# Pages are read in processes of their own.
egg.hand_over()

globals().update(
    {name.upper(): value for name, value in _vitrine.model_dump().items() if name not in SCRAPYS_NAMES}
)

BOT_NAME = "vitrine"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"

# ── a polite visitor ──
USER_AGENT = _vitrine.user_agent
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 1
# Sessions wait for their domains before their first request, so this only has to be large enough.
CONCURRENT_REQUESTS = max(64, 2 * _vitrine.sessions_at_once)

# ── what a request passes, from the engine to the site ──
DOWNLOADER_MIDDLEWARES_BASE = {
    **_scrapys.DOWNLOADER_MIDDLEWARES_BASE,
    "crawler.middlewares.saved_pages.SavedPageMiddleware": 10,
    # before the gate, so that no lock is taken for what a run may not ask for
    "crawler.middlewares.scope.ScopeMiddleware": 50,
    # before robots.txt, so that its download belongs to a session that holds the domain
    "crawler.middlewares.domain_gate.DomainGateMiddleware": 90,
    # behind the gate, so that a session hears of what is refused
    "crawler.rendering.playwright_requests.PlaywrightMiddleware": 95,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    # sees answers decompressed and after redirects; attempts of our own spiders, others have Scrapy's retries
    "crawler.middlewares.navigation.NavigationMiddleware": 550,
    # before either of them makes a new request of an error
    "crawler.middlewares.retry_after.RetryAfterMiddleware": 560,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "crawler.middlewares.decompression.DecompressionMiddleware": 590,
    # proxies of the environment would resolve names past our resolver
    "scrapy.downloadermiddlewares.httpproxy.HttpProxyMiddleware": None,
    "crawler.middlewares.proxy.ProxyMiddleware": 750,
    # innermost: what goes over the wire, and nothing that was answered before it got there
    "crawler.middlewares.recorder.RecorderMiddleware": 980,
}
REDIRECT_MAX_TIMES = 10
# Scrapy drops longer URLs without a word, and their visits would wait. The gate has a limit, and tells.
URLLENGTH_LIMIT = 0
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024
DOWNLOAD_WARNSIZE = 8 * 1024 * 1024

# ── hostile by default ──
TWISTED_DNS_RESOLVER = "crawler.middlewares.egress.GuardedResolver"
ROBOTSTXT_PARSER = "crawler.middlewares.robots_rules.RobotsRules"
DOWNLOAD_HANDLERS_BASE = {
    "http": "crawler.rendering.handler.RenderingHandler",
    "https": "crawler.rendering.handler.RenderingHandler",
    **dict.fromkeys(("data", "file", "ftp", "s3")),
}
DOWNLOAD_VERIFY_CERTIFICATES = True
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

# ── what a page passes, from the spider to the store ──
CAPTURE_PAGES = True  # for spiders that do not yield their captures themselves
SPIDER_MIDDLEWARES_BASE = {
    **_scrapys.SPIDER_MIDDLEWARES_BASE,
    "crawler.middlewares.capture.CaptureMiddleware": 950,
}
ITEM_PIPELINES_BASE = {"crawler.pipelines.evidence.EvidencePipeline": 300}
EXTENSIONS_BASE = {
    **_scrapys.EXTENSIONS_BASE,
    "scrapy.extensions.remote_control.RemoteControl": None,
    "crawler.extensions.remote_control.LazyRemoteControl": 0,
    # before the exporter of feeds, which takes them as they are
    "crawler.extensions.page_feed.PageFeed": -10,
    "crawler.extensions.lean.Lean": 90,
    "crawler.extensions.sessions.Sessions": 100,
    "crawler.extensions.watch.Watch": 110,
}
SPIDER_CONTRACTS_BASE = {**_scrapys.SPIDER_CONTRACTS_BASE, "crawler.contracts.saved_page.SavedPage": 10}
FEED_EXPORT_ENCODING = "utf-8"
