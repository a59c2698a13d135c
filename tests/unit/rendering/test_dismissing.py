"""Popups are pressed away as a visitor would, within bounds; whatever a page does meanwhile, it goes on."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import AsyncMock

import pytest
from playwright.async_api import Error

from crawler.rendering.dismissing import (
    MOST_FRAMES,
    MOST_PER_PASS,
    SHARE_OF_OVERLAY,
    TRIES,
    Dismisser,
    answer_vendors,
    remembered_answers,
)
from crawler.rendering.popups import VENDORS
from tests.unit.components import awaited

URL = "https://shop.example/"


class Handle:
    """What a page's script found: popups, and elements by their numbers."""

    def __init__(self, frame: Frame, index: int = -1) -> None:
        self.frame, self.index = frame, index

    async def evaluate(self, script: str) -> Any:
        """The popups, of what was found; of a popup, whether it is still there."""
        if self.index < 0:
            return list(self.frame.popups)
        return self.index in {each["index"] for each in self.frame.popups}

    async def evaluate_handle(self, _script: str, index: int) -> Handle:
        """One of the elements."""
        return Handle(self.frame, index)

    def as_element(self) -> Handle:
        """It is one."""
        return self

    async def click(self, **_options: Any) -> None:
        """Press it: some popups go, others stay, some cannot be pressed."""
        self.frame.pressed.append(self.index)
        if self.index in self.frame.covered:
            raise Error("another element receives the click")
        if self.index not in self.frame.dead:
            popup = next(p for p in self.frame.popups if self.index in {c["index"] for c in p["controls"]})
            self.frame.popups.remove(popup)


class Frame:
    """A frame with popups, which lies over its page or not."""

    def __init__(self, *popups: dict[str, Any], share: float = 0.5, is_over: bool = True) -> None:
        self.popups, self.place = list(popups), [share, is_over]
        self.parent_frame: Frame | None = None
        self.pressed: list[int] = []
        self.covered: set[int] = set()
        self.dead: set[int] = set()
        self.url = f"{URL}frame"
        self.hidden: int | Error = 0
        self.error: Error | None = None
        self.detached = False

    async def evaluate_handle(self, _script: str, _given: Any) -> Handle:
        """Look for popups."""
        if self.error:
            raise self.error
        return Handle(self)

    async def frame_element(self) -> Frame:
        """Stands for its element, too."""
        return self

    async def evaluate(self, script: str, *_: Any) -> Any:
        """Where it lies; or how much was hidden in it."""
        if "innerWidth * innerHeight" in script and "isOver" in script:
            return self.place
        if isinstance(self.hidden, Error):
            raise self.hidden
        return self.hidden

    def is_detached(self) -> bool:
        """Whether it went with its popup."""
        return self.detached


class Page:
    """A page of frames; the first one is its own."""

    def __init__(self, main: Frame, *others: Frame) -> None:
        self.main_frame, self.frames, self.url = main, [main, *others], URL
        for other in others:
            other.parent_frame = main


class Clock:
    """Lets no time pass; counts it."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        """At once."""
        self.slept.append(seconds)


def popup(number: int, *labels: str, text: str = "We use cookies", vendor: str = "") -> dict[str, Any]:
    """What a page's script says of a popup; its controls have the numbers behind its own."""
    controls = [
        {
            "index": number + at,
            "label": label,
            "name": "",
            "hints": "",
            "leadsAway": False,
            "isVendors": False,
        }
        for at, label in enumerate(labels, 1)
    ]
    return {
        "index": number, "text": f"{text} {number}", "hints": "", "hasEmail": False, "vendor": vendor,
        "controls": controls,
    }  # fmt: skip


def dismisser(*frames: Frame) -> tuple[Dismisser, list[dict[str, Any]]]:
    """What clears a page of these frames, and the lines that it writes."""
    lines: list[dict[str, Any]] = []
    page, clock = Page(*frames), Clock()

    def note(*_: str, **details: Any) -> None:
        lines.append(details)

    made: Any = Dismisser(page, clock, 0.4, note)  # type: ignore[arg-type]
    return made, lines


def test_a_banner_is_refused_and_told() -> None:
    """After it was given its time to go."""
    work, lines = dismisser(Frame(popup(10, "Accept all", "Reject all", vendor="cookiebot")))
    assert awaited(work.clear()) == 1
    assert (work.clock.slept, work.page.main_frame.pressed) == ([0.4], [12])  # type: ignore[attr-defined]
    assert [(line["label"], line["answer"], line["vendor"], line["pass"]) for line in lines] == [
        ("Reject all", "refuse", "cookiebot", 1)
    ]
    assert awaited(work.clear()) == 0


@pytest.mark.parametrize("how", ["covered", "dead"])
def test_the_next_best_control_is_tried(how: str) -> None:
    """Where the best is behind something else, or does nothing; then the popup is left where it is."""
    frame = Frame(popup(10, "Accept all", "Reject all", "Close"))
    setattr(frame, how, {12})
    work, _ = dismisser(frame)
    assert awaited(work.clear()) == 1
    assert len(frame.pressed) == 2
    stubborn = Frame(popup(10, "Accept all", "Reject all", "Close"), popup(20, "Reject all"))
    setattr(stubborn, how, {11, 12, 13})
    work, _ = dismisser(stubborn)
    assert awaited(work.clear()) == 1
    assert len([number for number in stubborn.pressed if number < 20]) == TRIES
    assert [each["index"] for each in stubborn.popups] == [10]


def test_a_page_of_nothing_but_popups_has_its_bounds() -> None:
    """So many in a pass, whoever opens them."""
    work, lines = dismisser(Frame(*(popup(10 * n, "Reject all") for n in range(1, 20))))
    assert awaited(work.clear()) == MOST_PER_PASS
    assert len(lines) == MOST_PER_PASS


def test_frames_that_lie_over_the_page_are_cleared_too() -> None:
    """Those beside its text are its own; more than a few are not asked."""
    over, beside = Frame(popup(10, "Reject all")), Frame(popup(20, "Reject all"), is_over=False)
    unseen = Frame(popup(30, "Reject all"), share=0.0)
    many = [Frame() for _ in range(MOST_FRAMES)]
    late = Frame(popup(40, "Reject all"))
    work, lines = dismisser(Frame(), over, beside, unseen, *many, late)
    assert awaited(work.clear()) == 1
    [line] = lines
    assert line["frame"] == over.url
    assert [bool(each.popups) for each in (over, beside, unseen, late)] == [False, True, True, True]


@pytest.mark.parametrize("where", [0, 1])
def test_a_frame_that_is_gone_costs_the_others_nothing(where: int) -> None:
    """A banner's frame goes with the banner."""
    frames = [Frame(popup(10 * n, "Reject all")) for n in (1, 2, 3)]
    frames[where].error = Error("Frame was detached")
    work, _ = dismisser(*frames)
    assert awaited(work.clear()) == 2


def test_a_popup_that_goes_with_its_frame_is_dismissed() -> None:
    """Nobody can be asked about it any more."""

    class Going(Frame):
        async def evaluate_handle(self, script: str, given: Any) -> Handle:
            if self.detached:
                raise Error("Frame was detached")
            return await super().evaluate_handle(script, given)

    frame = Going(popup(10, "Reject all"))
    frame.dead, frame.detached = {11}, False
    work, lines = dismisser(Frame(), frame)

    # it is gone once it was waited for
    work.clock.sleep = AsyncMock(side_effect=lambda _: setattr(frame, "detached", True))  # type: ignore[method-assign]
    assert awaited(work.clear()) == 1
    assert len(lines) == 1


def test_what_cannot_be_dismissed_is_hidden_once() -> None:
    """In the page, and in frames that cover much of it; a frame that is gone hides nothing."""
    main, large, small, gone = Frame(), Frame(share=0.9), Frame(share=SHARE_OF_OVERLAY / 2), Frame()
    main.hidden, large.hidden, small.hidden, gone.hidden = 2, 1, 100, Error("Frame was detached")
    work, lines = dismisser(main, large, small, gone)
    for _ in range(2):
        awaited(work.hide_overlays())
    assert lines == [{"hidden": 3}]


def test_known_vendors_find_that_they_were_answered() -> None:
    """By cookies for the whole site, and by what its pages keep."""

    class Context:
        cookies: list[dict[str, str]]

        async def add_cookies(self, cookies: list[dict[str, str]]) -> None:
            self.cookies = cookies

    context: Any = Context()
    awaited(answer_vendors(context, f"{URL}deep/page?x=1"))
    assert {each["url"] for each in context.cookies} == {URL}
    assert len(context.cookies) == sum(len(vendor.cookies) for vendor in VENDORS) > 0
    text = remembered_answers()
    items = json.loads(text[text.index("[[") : text.index("]]") + 2])
    assert items == [list(item) for vendor in VENDORS for item in vendor.storage]
