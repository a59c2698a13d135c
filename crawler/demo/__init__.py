"""The bundled storefront: what `make demo` crawls offline, and the web server of all tests."""

from crawler.demo.process import DemoProcess, spawn
from crawler.demo.scenarios import SCENARIOS, Scenario
from crawler.demo.server import NETWORK, DemoServer, serve
from crawler.demo.shops import DEMO_SIX, SHOPS, Shop

__all__ = [
    "DEMO_SIX",
    "NETWORK",
    "SCENARIOS",
    "SHOPS",
    "DemoProcess",
    "DemoServer",
    "Scenario",
    "Shop",
    "serve",
    "spawn",
]
