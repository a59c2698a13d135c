"""What is true of short texts is asked once."""

from __future__ import annotations

from crawler.pdp import memo
from crawler.pdp.memo import Memo


def test_a_text_is_asked_about_once() -> None:
    """Whatever the answer is; a long one is asked about again, and takes no room."""
    asked: list[str] = []

    def lengths(texts: list[str]) -> dict[str, int]:
        asked.extend(texts)
        return {text: len(text) for text in texts if text.startswith("a")}

    kept = Memo(lengths)
    long = "a" * (memo.MAX_CHARS + 1)
    for _ in range(2):
        assert kept.among(["add", "buy", "add", long]) == {"add": 3, long: len(long)}
    assert sorted(asked) == sorted(["add", "buy", long, long])


def test_it_forgets_when_it_is_full() -> None:
    """So that a crawl of many sites stays small."""
    kept: Memo[bool] = Memo(lambda texts: {text: True for text in texts if text.endswith("7")})
    for start in range(0, memo.MAX_KNOWN + 2_000, 1_000):
        assert len(kept.among(str(number) for number in range(start, start + 1_000))) == 100
    assert len(kept._known) <= memo.MAX_KNOWN + 1_001


def test_each_text_has_its_answer() -> None:
    """In the order of asking, those with none and those that are missing as well."""
    kept = Memo(lambda texts: {text: text.upper() for text in texts if text != "b"})
    for _ in range(2):
        assert kept.each(["a", None, "b", "c", "a"]) == ["A", None, None, "C", "A"]
    assert kept.each(["d", "a"]) == ["D", "A"]
