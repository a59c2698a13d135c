"""Redis away for seconds in the midst of many sessions: they wait for it, and no lock is left behind."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from crawler.access.redis_gate import LOCK_KEY_PREFIX
from tests.e2e.conftest import rows
from tests.e2e.test_interruptions import shop_urls
from tests.servers import own_redis
from tests.waiting import wait_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from crawler.demo import DemoServer
    from tests.e2e.conftest import Home
    from tests.servers import Server

pytestmark = pytest.mark.soak(minutes=10)

SHOPS = 10
AWAY_SECONDS = 5.0  # longer than all attempts at a lock together take


def freeze(server: Server, wait_until_noticed: Callable[[], object]) -> None:
    """Have it not answer, and keep what it is sent."""
    with Redis.from_url(server.url) as client:
        pid = int(client.info("server")["process_id"])
    os.kill(pid, signal.SIGSTOP)
    time.sleep(AWAY_SECONDS)
    wait_until_noticed()
    os.kill(pid, signal.SIGCONT)


def restart(server: Server, wait_until_noticed: Callable[[], object]) -> None:
    """Have nobody listen there; it remembers."""
    server.kill()
    time.sleep(AWAY_SECONDS)
    wait_until_noticed()
    server.start()


@pytest.mark.parametrize("goes_away", [freeze, restart])
def test_sessions_wait_for_redis(
    home: Home,
    shops: DemoServer,
    tmp_path: Path,
    endings: list[subprocess.Popen[str]],
    goes_away: Callable[[Server, Callable[[], object]], None],
) -> None:
    """None fails, each had its lock, and none of those that ended meanwhile is left."""
    urls, log = tmp_path / "urls.txt", tmp_path / "log"
    urls.write_text("\n".join(shop_urls(shops, SHOPS)), encoding="utf-8")
    with own_redis(persistent=True) as server:
        home.extra.update(REDIS_URL=server.url, DOMAIN_LOCK_TTL_SECONDS="120", SESSIONS_AT_ONCE="2")
        quick = ("-s", "DOWNLOAD_DELAY=0.3", "-s", f"LOG_FILE={log}", "-s", "LOG_LEVEL=INFO")
        endings.append(home.start_vitrine("crawl", "pdp", "--urls", str(urls), *quick))
        wait_for(lambda: "completed" in statuses(home))
        goes_away(server, lambda: wait_for(lambda: "lock.gate.wait" in log.read_text(encoding="utf-8")))
        assert endings[0].wait(300) == 0
        with Redis.from_url(server.url) as client:
            assert list(client.scan_iter(f"{LOCK_KEY_PREFIX}*")) == []
    assert statuses(home) == {"completed": SHOPS}
    assert log.read_text(encoding="utf-8").count("lock.acquire.success") == SHOPS


def statuses(home: Home) -> Counter[str]:
    """How many sessions have which status."""
    return Counter(row.status for row in rows(home))
