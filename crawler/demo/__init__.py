"""The bundled storefront: what `make demo` crawls offline, and the web server of all tests."""

from crawler.demo.answers import DemoServer
from crawler.demo.process import spawn
from crawler.demo.server import NETWORK, serve
from crawler.demo.shops import DEMO_SIX, SHOPS, Shop

__all__ = [
    "DEMO_SIX",
    "NETWORK",
    "SHOPS",
    "DemoServer",
    "Shop",
    "serve",
    "spawn",
]
