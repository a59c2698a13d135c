"""What is true of short texts is asked once."""

from __future__ import annotations

from crawler.pdp import memo
from crawler.pdp.memo import Memo


def test_a_text_is_asked_about_once() -> None:
    """Whatever the answer is; a long one is asked about again, and takes no room."""
    asked: list[str] = []

    def begins_with_a(text: str) -> bool:
        asked.append(text)
        return text.startswith("a")

    kept = Memo(begins_with_a)
    long = "a" * (memo.MAX_CHARS + 1)
    for _ in range(2):
        assert kept.among(["add", "buy", "add", long]) == {"add", long}
    assert sorted(asked) == sorted(["add", "buy", long, long])


def test_it_forgets_when_it_is_full() -> None:
    """So that a crawl of many sites stays small."""
    kept = Memo(str.isalpha)
    for start in range(0, memo.MAX_KNOWN + 2_000, 1_000):
        assert not kept.among(str(number) for number in range(start, start + 1_000))
    assert len(kept._false) <= memo.MAX_KNOWN + 1_000
