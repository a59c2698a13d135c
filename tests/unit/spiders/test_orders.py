"""What `-a` may say to a worker of a fleet, and how URLs are taken; the rest is checked where it is used."""

from __future__ import annotations

import pytest

from crawler.config import load_settings
from crawler.errors import ConfigError, UsageError
from crawler.spiders.orders import PdpArguments, check_worker

URL = "https://shop.example/p/1"
REDIS = {"REDIS_URL": "redis://localhost/0"}


@pytest.mark.parametrize("name", ["url", "urls", "pdp", "session", "listing"])
def test_a_worker_has_no_urls_of_its_own(name: str) -> None:
    """It would be one machine's only, and every restart would visit it again."""
    with pytest.raises(UsageError, match="exclude each other"):
        check_worker(load_settings(REDIS), {name: URL})


def test_a_worker_needs_redis() -> None:
    """No line of a crawl that runs alone for ever."""
    with pytest.raises(ConfigError, match="REDIS_URL"):
        check_worker(load_settings({"REDIS_URL": ""}), {})


def test_a_worker_s_defaults_are_checked() -> None:
    """Before it takes anything."""
    check_worker(load_settings(REDIS), {"mode": "debug", "retention": "short", "_job": "7"})
    with pytest.raises(UsageError, match="loud"):
        check_worker(load_settings(REDIS), {"mode": "loud"})


@pytest.mark.parametrize("given", [{}, {"url": ""}, {"url": " "}, {"listing": "\t"}])
def test_blanks_name_nothing(given: dict[str, str]) -> None:
    """As of a variable that a script has not set: such a crawl ended as failed, and did not say why."""
    with pytest.raises(UsageError, match="nothing to crawl"):
        PdpArguments.parse(given)


def test_urls_are_ordered_in_one_spelling() -> None:
    """SPEC F160: what was given otherwise is kept beside it, for the log."""
    arguments = PdpArguments.parse(
        {"url": "HTTPS://Shop.Example:443/#top", "pdp": "HTTPS://Shop.Example/p#x"}
    )
    [target] = arguments.targets
    order = arguments.order(target, "v1.2")
    assert (order.url, order.given_url) == ("https://shop.example/", "HTTPS://Shop.Example:443/#top")
    assert (order.domain, order.wanted_pdp_url) == ("shop.example", "https://shop.example/p")
    [of_page] = PdpArguments.parse({"pdp": "HTTPS://Shop.Example/p#x"}).targets
    assert of_page.url == "https://shop.example/"
    [plain] = PdpArguments.parse({"url": "https://shop.example/p"}).targets
    assert PdpArguments.parse({"start_url": "https://shop.example/p", "url": ""}).targets == (plain,)
    assert arguments.order(plain, "v1.2").given_url is None
