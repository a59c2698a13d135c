"""pywb as the oracle: on the same WARC file it shows the same captures, and lists the same ones."""

from __future__ import annotations

import json
import re
import subprocess
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest

from crawler.archive.asked import timestamp_of
from tests.e2e.demo_days import archived
from tests.programs.peers import own_pywb
from tests.unit.archive.captured import SHOP, day, exchange
from tests.unit.web.conftest import serving_on
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from email.message import Message
    from pathlib import Path

    from crawler.warc.messages import Exchange
    from tests.e2e.conftest import Home

pytestmark = pytest.mark.soak
URLS = [f"{SHOP}p/{number}" for number in range(10)]
REQUESTS = 200


def captures(dice: Random) -> list[Exchange]:
    """Each page at some times of a month, two of them a minute apart."""
    times = {
        url: {day(dice.randint(1, 28), dice.randint(0, 23), dice.randint(0, 59)) for _ in range(8)}
        for url in URLS
    }
    made = [
        exchange(url, f"<html><title>{url}</title><p>{at:%d %H:%M}", at)
        for url, all_of in times.items()
        for at in all_of
    ]
    return sorted(made, key=lambda each: each.captured_at)


def headers_of(url: str, **headers: str) -> Message:
    """What an answer says of itself."""
    with urlopen(Request(url, headers=headers), timeout=60) as answer:  # ruff: ignore[suspicious-url-open-usage] - our own ports
        answer.read()
        found: Message = answer.headers
    return found


def links(header: str) -> dict[str, str]:
    """The times of a `Link` header's mementos, and what else it names, by relation."""
    pairs = re.findall(r'<([^>]*)>;[^,<]*?rel="([^"]+)"(?:[^<]*?datetime="([^"]+)")?', header)
    return {relation: at or target for target, relation, at in pairs}


def test_the_nearest_capture_is_the_one_that_pywb_shows(
    home: Home, sqlite_database: str, peers: Path, tmp_path: Path
) -> None:
    """For two hundred requests; the TimeMaps have the same times, and both name the original."""
    dice = Random(3)
    made = captures(dice)
    folder = tmp_path / "job"
    with serving_on(sqlite_database, tmp_path / "home") as serve:
        served = serve()
        archived(served.database, served.stores.settings, folder, iter(made))
        root = tmp_path / "pywb"
        root.mkdir()
        subprocess.run([peers / "wb-manager", "init", "shop"], cwd=root, check=True, capture_output=True)
        file = folder / "warcs" / "demo.warc.gz"
        done = home.vitrine("warcs", "cdxj", str(file), "--pywb", str(root / "collections" / "shop"))
        assert done.returncode == 0, done.stderr
        with own_pywb(peers, root) as pywb:
            wait_for(pywb.answers)
            for url, at in _questions(dice):
                path = f"{timestamp_of(at)}mp_/{url}"
                ours, theirs = (
                    headers_of(f"{served.address}/web/{path}"),
                    headers_of(pywb.address(f"shop/{path}")),
                )
                assert ours["Memento-Datetime"] == theirs["Memento-Datetime"], path
                mine, other = links(ours["Link"]), links(theirs["Link"])
                assert mine["original"] == other["original"] == url
                assert mine["memento"] == other["memento"]
                assert {"timegate", "timemap"} <= set(mine) & set(other)
            for url in URLS:
                assert _timemap(f"{served.address}/web/timemap/link/{url}") == _timemap(
                    pywb.address(f"shop/timemap/link/{url}")
                )
                asked = f"cdx?url={url}&output=json"
                ours_, theirs_ = (
                    _lines(f"{served.address}/web/{asked}"),
                    _lines(pywb.address(f"shop/{asked}")),
                )
                assert ours_ == theirs_


def _questions(dice: Random) -> Iterator[tuple[str, datetime]]:
    for _ in range(REQUESTS):
        yield dice.choice(URLS), day(dice.randint(1, 28), dice.randint(0, 23), dice.randint(0, 59))


def _timemap(url: str) -> list[str]:
    with urlopen(url, timeout=60) as answer:  # ruff: ignore[suspicious-url-open-usage] - our own ports
        return sorted(re.findall(r'memento"; datetime="([^"]+)"', answer.read().decode()))


def _lines(url: str) -> list[dict[str, Any]]:
    names = ("urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset")
    with urlopen(url, timeout=60) as answer:  # ruff: ignore[suspicious-url-open-usage] - our own ports
        lines = [json.loads(line) for line in answer.read().decode().splitlines()]
    return [{name: line[name] for name in names} for line in lines]
