"""The page in front of all shops, for a person who wants to look around."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from crawler.demo.scenarios import PREFIX, SCENARIOS
from crawler.demo.styles import style_sheet
from crawler.demo.wire import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.demo.shops import Shop


def directory(shops: Iterable[Shop], url: Callable[[str, str], str]) -> Reply:
    """Every shop with what it is for, and every scenario with the path that shows it."""
    doors = "\n".join(
        f'<tr><td><a href="{url(shop.name, "/")}">{shop.name}</a></td><td>{escape(shop.title)}</td>'
        f"<td>{escape(shop.purpose)}</td></tr>"
        for shop in shops
    )
    troubles = "\n".join(
        f'<tr><td><a href="{url("plain", f"{PREFIX}{scenario.name}/")}">{PREFIX}{scenario.name}/</a></td>'
        f"<td>{escape(scenario.purpose)}</td></tr>"
        for scenario in SCENARIOS.values()
    )
    return Reply(
        f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>The demo's shops</title>
<style>{style_sheet("#1f4e46", "#f6f3ec")} td{{padding:4px 18px 4px 0;vertical-align:top}}</style></head>
<body><main class="wrap">
<h1>The demo's shops</h1>
<table>
{doors}
</table>
<h2>What any of them can be made to do</h2>
<table>
{troubles}
</table>
</main></body>
</html>
""".encode()
    )
