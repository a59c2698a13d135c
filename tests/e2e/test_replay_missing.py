"""What the frame says is missing, beside what a real browser cannot show."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import playwright

from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.web.conftest import serving_on

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from crawler.warc.messages import Exchange
    from tests.programs.browser import InBrowser

PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
)
BLANK = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
BROKEN = """
<img src=/1.png>
<img data-src=/2.png>
<img src='{blank}' data-src=/3.png loading=lazy>
<img srcset='/4.png 1x, /4b.png 2x'>
<picture><source srcset='/5.webp 100w, /5b.webp 200w' sizes=50vw><img src='{blank}'></picture>
<img src=/6.png>
<img src=/7.png>
<img src='blob:https://shop.example/8'>
"""
SHOWN = """
<img class=well src='{blank}' data-src=/there.png><noscript><img src=/there.png></noscript>
<img class=well src=/never.png srcset='/never2.png 1x, /there.png 2x'>
<picture><source srcset=/never3.webp><img class=well src=/there.png></picture>
<picture><source data-srcset='/there.png 1x'><img src='{blank}' class=well></picture>
<img class=well src=/icon.ico><img class=well src=/moved.png>
"""
STYLE = """
@font-face {{ font-family: Odd; src: url(/never.woff2) format("woff2"), url(/odd.ttf) format("truetype") }}
p {{ font-family: Odd; background: url(/there.png) }} {more}
"""


def captured(broken: str, style: str = "") -> list[Exchange]:
    """Answers of a site whose pictures lie where a script would look, or are not what they seem."""
    font = next(Path(playwright.__file__).parent.rglob("*.ttf")).read_bytes()
    kinds: dict[str, Any] = {"kind": "image/png"}
    page = f"<title>Shop</title><link rel=stylesheet href=/s.css>{broken}{SHOWN}<p>\ueb01 text</p>"
    return [
        exchange(SHOP, page.format(blank=BLANK), day(1)),
        exchange(f"{SHOP}s.css", STYLE.format(more=style), day(1), kind="text/css"),
        exchange(f"{SHOP}odd.ttf", font, day(1), kind="application/octet-stream"),
        exchange(f"{SHOP}icon.ico", _icon(), day(1), kind="application/octet-stream"),
        exchange(f"{SHOP}there.png", PIXEL, day(1), **kinds),
        exchange(f"{SHOP}moved.png", "", day(1), status=302, Location="/there.png", **kinds),
        exchange(f"{SHOP}6.png", "<title>Not found</title><p>Sorry.", day(1)),
        exchange(f"{SHOP}7.png", "", day(1), status=302, Location="/nowhere.png", **kinds),
    ]


def _icon() -> bytes:
    """An icon with the pixel in it."""
    entry = bytes((1, 1, 0, 0, 1, 0, 32, 0)) + len(PIXEL).to_bytes(4, "little") + (22).to_bytes(4, "little")
    return b"\x00\x00\x01\x00\x01\x00" + entry + PIXEL


def looked_at(database: str, home: Path, in_browser: InBrowser, answers: list[Exchange]) -> dict[str, Any]:
    """What the banner says, and what the browser could show in the frame."""
    with serving_on(database, home) as serve:
        served = serve()
        record(served.database, home / "warcs", *answers)

        def look(page: Page) -> dict[str, Any]:
            page.goto(f"{served.address}/web/20260501120000/{SHOP}", wait_until="networkidle")
            inside = page.frames[-1]
            said = page.locator("details.told summary").inner_text()
            page.locator("details.told summary").click()
            pictures = "all => all.map(e => [e.className, e.complete && e.naturalWidth > 0])"
            return {
                "said": said,
                "told": page.locator("details.told").inner_text(),
                "pictures": inside.locator("img").evaluate_all(pictures),
                "fonts": inside.evaluate("async () => [...await document.fonts.ready].map(f => f.status)"),
            }

        return in_browser(look)


def test_broken_pictures_are_counted(sqlite_database: str, tmp_path: Path, in_browser: InBrowser) -> None:
    """Eight of them are told as eight, and every other picture and the font are shown."""
    seen = looked_at(sqlite_database, tmp_path, in_browser, captured(BROKEN))
    assert sum(not is_shown for _, is_shown in seen["pictures"]) == 8
    assert [is_shown for name, is_shown in seen["pictures"] if name] == [True] * 6
    assert seen["fonts"] == ["loaded"]
    assert seen["said"] == "8 missing"
    assert "All that this page is shown with was captured" not in seen["told"]


def test_nothing_is_missing_where_all_is_shown(
    sqlite_database: str, tmp_path: Path, in_browser: InBrowser
) -> None:
    """Of several addresses of a picture or a font, one is enough."""
    seen = looked_at(sqlite_database, tmp_path, in_browser, captured(""))
    assert all(is_shown for _, is_shown in seen["pictures"])
    assert seen["said"] == "0 missing"
    assert "All that this page is shown with was captured" in seen["told"]


def test_scripts_styles_and_frames_are_told(
    sqlite_database: str, tmp_path: Path, in_browser: InBrowser
) -> None:
    """Scripts that were left out, pictures that stylesheets name, and what a frame in the page lacks."""
    more = "<script src=/a.js></script><script>1</script><script type=application/ld+json>{{}}</script>"
    frame = exchange(f"{SHOP}frame", "<img src=/in-frame.png>", day(1))
    style = "b { background: url(/b.png) } i { background: url(/there.png) }"
    answers = [*captured(f"{more}<iframe src=/frame></iframe><iframe src=/none></iframe>", style), frame]
    seen = looked_at(sqlite_database, tmp_path, in_browser, answers)
    assert seen["said"] == "3 missing, 2 scripts left out"
    assert set(re.findall(rf"{SHOP}\S+", seen["told"])) == {
        f"{SHOP}{name}" for name in ("in-frame.png", "none", "b.png")
    }
    assert "Scripts do not run here" in seen["told"]
    assert "All that this page is shown with was captured" not in seen["told"]
