"""robots.txt, read for one robot: what it says of others costs nothing."""

from __future__ import annotations

import pytest
from scrapy.robotstxt import ProtegoRobotParser

from crawler.middlewares.robots_rules import MAX_BYTES, RobotsRules, lines_for

AGENTS = ("vitrine", "Vitrine/0.1.0 (+https://shop.example/bot)", "x-vitrine bot", "vit")
URLS = tuple(f"https://shop.example{path}" for path in ("/", "/a", "/a/b", "/cart"))


@pytest.mark.parametrize(
    "text",
    [
        "User-agent: *\nDisallow: /a\n\nUser-agent: vitrine\nAllow: /a/b\nCrawl-delay: 3",
        "User-agent: googlebot\nUser-agent: Vitrine # us\nUser-agent: *\nDisallow: /a",
        "User-agent: googlebot\nDisallow: /\nUser-agent: bingbot\nDisallow: /a\nSitemap: /s.xml",
        "useragent vit\nDisallow: /a\nuser agent:vitrine\nDisallow: /cart\nUser-agent: bot\nDisallow: /",
        "User-agent: vit*rine\nDisallow: /a\nUser-agent: **\nDisallow: /",
        "User-agent: other\nDisallow: /\nUser-agent:\nDisallow: /a",
        "user-agent vitrine: x\nDisallow: /\nuser\tagent *\nDisallow: /*b$",
        "Disallow: /\n\ufefffoo: bar\nuser-agent",
    ],
)
def test_it_says_what_all_of_it_says(text: str) -> None:
    """Of whoever asks, and of the delay; groups are joined by their names, however these are spelt."""
    whole, ours = (kind(text.encode(), None) for kind in (ProtegoRobotParser, RobotsRules))
    for agent in AGENTS:
        assert [ours.allowed(url, agent) for url in URLS] == [whole.allowed(url, agent) for url in URLS]
        assert ours.crawl_delay(agent) == whole.crawl_delay(agent)


def test_many_robots_with_many_rules_are_no_more_than_their_lines() -> None:
    """Where each rule was kept for each robot, 500 kB took all memory."""
    robots = [f"User-agent: robot{number}" for number in range(9_000)]
    robots += [f"User-agent: vi{'*' * number}trine" for number in range(1, 300)]
    rules = [f"Disallow: /{number}" for number in range(8_000)]
    body = "\n".join((*robots, *rules)).encode()
    assert len(body) < MAX_BYTES
    assert len(set(lines_for("vitrine", body.decode().splitlines())) - set(rules)) == 2
    found = RobotsRules(body, None)
    assert not found.allowed("https://shop.example/7999", "vitrine")
    assert found.allowed("https://shop.example/x", "vitrine")


def test_no_more_is_read_than_has_to_be() -> None:
    """The last rule that is read is a whole one."""
    rule = b"Disallow: /private/of/somebody\n"
    found = RobotsRules(b"User-agent: *\n" + rule * (MAX_BYTES // len(rule) + 1) + b"Disallow: /\n", None)
    assert found.allowed("https://shop.example/private", "vitrine")
    assert not found.allowed("https://shop.example/private/of/somebody", "vitrine")
