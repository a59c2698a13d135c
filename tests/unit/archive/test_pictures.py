"""Which address a picture is shown with: lazy ones are put in place, uncaptured ones left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.archive.rewriting import Place, shown_page

if TYPE_CHECKING:
    from collections.abc import Collection

SHOP = "https://shop.example/"
INTO = f"/web/20260101000000im_/{SHOP}"
BLANK = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP"
HERE = Place(SHOP, "20260101000000")


def shown(page: str, *captured: str) -> tuple[str, list[str]]:
    """The pictures of a page of which these were captured, and what it asks for."""

    def there(urls: Collection[str]) -> set[str]:
        return {f"{SHOP}{name}" for name in captured} & set(urls)

    found = shown_page(page.encode(), "text/html", HERE, there)
    body = found.body.decode()
    return body[body.index("<body>") + 6 : body.index("</body>")], list(found.resources)


@pytest.mark.parametrize(
    ("given", "made", "asked"),
    [
        ("<img data-src=a>", f'<img data-src="a" src="{INTO}a">', "a"),
        (f"<img src='{BLANK}' data-src=a>", f'<img src="{INTO}a" data-src="a">', "a"),
        (f"<img src='{BLANK}' data-src=x>", f'<img src="{INTO}x" data-src="x">', "x"),
        ("<img src=a data-src=x>", f'<img src="{INTO}a" data-src="x">', "ax"),
        ("<img src=x srcset='y 1x, a 2x'>", f'<img src="{INTO}a" srcset="{INTO}a 2x">', "a"),
        ("<img src=a srcset='x 1x, y 2x'>", f'<img src="{INTO}a">', "a"),
        ("<img srcset='x 1x, y 2x'>", f'<img src="{INTO}x">', "x"),
        (f"<img src='{BLANK}'>", f'<img src="{BLANK}">', ""),
        ("<img data-src=a><noscript><img src=a></noscript>", f'<img data-src="a" src="{INTO}a">', "a"),
        (
            f"<picture><source srcset=x><img src='{BLANK}'></picture>",
            f'<picture><source><img src="{INTO}x"></picture>',
            "x",
        ),
        (
            "<picture><source data-srcset=a><img src=b></picture>",
            f'<picture><source data-srcset="a" srcset="{INTO}a"><img src="{INTO}b"></picture>',
            "ab",
        ),
    ],
)
def test_a_picture_is_shown_with_what_was_captured(given: str, made: str, asked: str) -> None:
    """Of a and b there is a capture, of x and y there is none: what is asked for and not there is missing."""
    body, resources = shown(given, "a", "b")
    assert body == made
    assert sorted(resources) == [f"{SHOP}{name}" for name in asked]


def test_frames_and_films_are_filled_too() -> None:
    """Where they are empty."""
    page = "<iframe src=about:blank data-src=f></iframe><video data-src=v></video>"
    body, resources = shown(page)
    assert f'src="/web/20260101000000if_/{SHOP}f"' in body
    assert sorted(resources) == [f"{SHOP}f", f"{SHOP}v"]
