"""A response, read: the rule's verdict, the facts and the text, found in one pass off the reactor."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import frozen
from scrapy.utils.asyncio import run_in_thread

from crawler.pdp import discover, fallback_links, features, judge, read_facts, read_page, visible_text
from crawler.sessions.items import PageCapture
from crawler.sessions.journal import storable
from crawler.sessions.outcome import low_confidence_reasons

if TYPE_CHECKING:
    from scrapy.http import Response
