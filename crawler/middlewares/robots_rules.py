"""The rules of a robots.txt for whoever asks: a file that names many robots costs no more than a long one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self

from scrapy.robotstxt import ProtegoRobotParser, RobotParser, decode_robotstxt
from scrapy.utils.python import to_unicode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Spider
    from scrapy.crawler import Crawler

MAX_BYTES = 500 * 1024  # so much has to be read (RFC 9309, 2.5), and more says nothing to anybody
MOST_AGENTS = 8  # that rules are kept for; a crawl has one name, or a few
ANYBODY = "*"
_SOMEBODY_ELSE = "User-agent: somebody-else-whom-nobody-is-called"
# In the spellings that the parser takes, with a colon and without one.
_NAMES = re.compile(r"\s*user(?:[- ]?agent\s*:|(?:-|\s+)?agent\s(?=[^:]*(?::\S|\Z)))\s*(.*)", re.IGNORECASE)


class RobotsRules(RobotParser):
    """Scrapy's own parser, which keeps each rule once for each robot that the rule's group names.

    Of the groups those remain that are for whoever asks, and there all other robots are one.
    """

    def __init__(self, robotstxt_body: bytes, spider: Spider | None) -> None:
        self._spider = spider
        self._lines = decode_robotstxt(_beginning(robotstxt_body), spider).splitlines()
        self._by_agent: dict[str, ProtegoRobotParser] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Self:
        """Scrapy's way to make a parser."""
        return cls(robotstxt_body, crawler.spider)

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Whether a robot of that name may fetch a URL."""
        return self._rules_for(to_unicode(user_agent)).allowed(url, user_agent)

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """The delay that it is asked for."""
        return self._rules_for(to_unicode(user_agent)).crawl_delay(user_agent)

    def _rules_for(self, agent: str) -> ProtegoRobotParser:
        if agent not in self._by_agent:
            if len(self._by_agent) == MOST_AGENTS:
                self._by_agent.clear()
            text = "\n".join(lines_for(agent, self._lines))
            self._by_agent[agent] = ProtegoRobotParser(text.encode("utf-8", "replace"), self._spider)
        return self._by_agent[agent]


def lines_for(agent: str, lines: Iterable[str]) -> list[str]:
    """The same lines, with one name for all robots but the one that `agent` is in them."""
    named = [(line, _named_in(line)) for line in lines]
    own = _own_name(agent.strip().lower(), (name for _, name in named if name))
    return [
        line if name is None else f"User-agent: {own}" if name == own else _SOMEBODY_ELSE
        for line, name in named
    ]


def _named_in(line: str) -> str | None:
    """The robot that a line names, in lower case; None where it names none."""
    found = _NAMES.fullmatch(line.partition("#")[0].strip())
    if found is None or not found[1]:
        return None
    name = found[1].lower()
    return name if name == ANYBODY else name.replace("*", "")


def _own_name(agent: str, names: Iterable[str]) -> str:
    """The name that a robot answers to; of several the longest, and of those as long the first."""
    found = (name for name in dict.fromkeys(names) if name == ANYBODY or _answers(agent, name))
    return max(found, key=len, default=ANYBODY)


def _answers(agent: str, name: str) -> bool:
    """Whether a name begins a word of how a robot calls itself."""
    at = agent.find(name)
    while at > 0 and (agent[at - 1].isalnum() or agent[at - 1] in "-_"):
        at = agent.find(name, at + 1)
    return at >= 0


def _beginning(body: bytes) -> bytes:
    """As much as is read, up to the end of a line."""
    return body if len(body) <= MAX_BYTES else body[:MAX_BYTES].rpartition(b"\n")[0]
