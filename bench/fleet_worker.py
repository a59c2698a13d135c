"""One worker of `bench.fleet`, in a process of its own; its last line of output is what it cost."""

from __future__ import annotations

import json
import resource
import time
from collections import Counter
from typing import Any

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.utils.project import get_project_settings
from sqlalchemy import event
from sqlalchemy.engine import Engine

WRITES = ("INSERT", "UPDATE", "DELETE")
SETTINGS = {
    "FLEET": True, "MAX_IDLE_TIME_BEFORE_CLOSE": 3, "LOG_LEVEL": "ERROR", "DOWNLOAD_DELAY": 0,
    "TELNETCONSOLE_ENABLED": False,
}  # fmt: skip


def main(*_given: str) -> None:
    """Work off what is fed, and print what it took from here."""
    counted: Counter[str] = Counter()
    count_queries(counted)
    settings = get_project_settings()
    settings.update(SETTINGS, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler("pdp")
    began: dict[str, float] = {}
    crawler.signals.connect(lambda: began.update(_spent()), signal=signals.engine_started, weak=False)
    process.crawl(crawler)
    process.start()
    stats: dict[str, Any] = crawler.stats.get_stats()
    spent = {name: value - began[name] for name, value in _spent().items()}
    print(json.dumps({
        **spent, **counted,
        "sessions": stats.get("vitrine/sessions/completed", 0),
        "received": stats.get("downloader/response_bytes", 0),
        "sent": stats.get("downloader/request_bytes", 0),
        "requests": stats.get("downloader/request_count", 0),
        "stored": stats.get("vitrine/artifacts/bytes", 0),
        "files": stats.get("vitrine/artifacts/stored", 0),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }))  # fmt: skip


def count_queries(counted: Counter[str]) -> None:
    """Have each statement, and each transaction that wrote something, counted by SQLAlchemy's own events."""

    def asked(connection: Any, _cursor: object, statement: str, *_: object) -> None:
        counted["queries"] += 1
        if statement.lstrip().upper().startswith(WRITES):
            connection.info["wrote"] = True

    def committed(connection: Any) -> None:
        counted["transactions"] += 1
        counted["commits"] += bool(connection.info.pop("wrote", False))

    event.listen(Engine, "before_cursor_execute", asked)
    event.listen(Engine, "commit", committed)


def _spent() -> dict[str, float]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu": time.process_time() + children.ru_utime + children.ru_stime,
        "wall": time.perf_counter(),
    }


if __name__ == "__main__":
    main()
