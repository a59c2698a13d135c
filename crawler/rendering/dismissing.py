"""Popups out of the way: known vendors asked beforehand, then what is safe to press, then the last resort.

Nothing here fails a page: what goes wrong leaves the popup where it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from attrs import define, field
from playwright.async_api import Error

from crawler import logs
from crawler.rendering.page_scripts import script
from crawler.rendering.popups import VENDORS, Choice, Popup, choice_in, choices
from crawler.urls import root_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import BrowserContext, Frame, JSHandle, Page

    from crawler.rendering.waiting import Clock

MOST_PER_PASS = 5
MOST_FRAMES = 12
TRIES = 2  # controls of one popup
CLICK_MS = 2000
SHARE_OF_OVERLAY = 0.4  # of the window
_STILL_THERE = (
    "(e) => e.isConnected && e.checkVisibility({opacityProperty: true, visibilityProperty: true})"
    " && (e.getBoundingClientRect().height > 1"
    " || [...(e.shadowRoot ? e.shadowRoot.children : [])].some((c) => c.getBoundingClientRect().height > 1))"
)
_VENDORS = [{"name": each.name, "popup": each.popup, "refuse": each.refuse} for each in VENDORS]
log = logs.get_logger(__name__)


async def answer_vendors(context: BrowserContext, url: str) -> None:
    """Have the known vendors' banners find that they were answered, before the page is asked for."""
    root = root_of(url)
    cookies: list[Any] = [
        {"name": name, "value": value, "url": root} for vendor in VENDORS for name, value in vendor.cookies
    ]
    await context.add_cookies(cookies)


def remembered_answers() -> str:
    """The same for what vendors keep in a page's storage: a script to run before its own."""
    items = [item for vendor in VENDORS for item in vendor.storage]
    return (
        "(() => { try { for (const [key, value] of " + json.dumps(items) + ") "
        "if (localStorage.getItem(key) === null) localStorage.setItem(key, value); } catch (error) {} })()"
    )


@define(eq=False)
class Dismisser:
    """Clears one page; the clock is the page's."""

    page: Page
    clock: Clock
    settle_seconds: float
    note: Callable[..., None]  # writes a line of the session's log
    passes: int = 0
    dismissed: int = 0
    _is_hidden: bool = field(default=False)

    async def clear(self) -> int:
        """One pass over the page and its frames; how many popups it dismissed."""
        self.passes += 1
        before = self.dismissed
        for frame, is_framed in await self._frames():
            try:
                await self._clear_frame(frame, before, is_framed=is_framed)
            except Error as error:  # often a frame that went with the popup before it
                log.debug("popups.left", url=self.page.url, error=str(error).partition("\n")[0])
        return self.dismissed - before

    async def hide_overlays(self) -> None:
        """The last resort, once a page: hide what covers it and cannot be dismissed (SPEC F152)."""
        if self._is_hidden:
            return
        self._is_hidden = True
        hidden = 0
        for frame, _ in await self._frames(at_least=SHARE_OF_OVERLAY):
            try:
                hidden += await frame.evaluate(script("hide_overlays"))
            except Error as error:
                log.debug("overlays.left", url=self.page.url, error=str(error).partition("\n")[0])
        if hidden:
            self.note("info", "popup", "overlay_hide_fallback", hidden=hidden)

    # ── a frame ──

    async def _frames(self, at_least: float = 0.0) -> list[tuple[Frame, bool]]:
        """The page, and those of its frames that lie over it, or cover so much of the window."""
        found = [(self.page.main_frame, False)]
        for frame in [each for each in self.page.frames if each.parent_frame is not None][:MOST_FRAMES]:
            try:
                element = await frame.frame_element()
                share, is_over = await element.evaluate(script("frame_share"))
            except Error:
                continue  # it is gone
            if share > at_least and (is_over or at_least):
                found.append((frame, True))
        return found

    async def _clear_frame(self, frame: Frame, before: int, *, is_framed: bool) -> None:
        """Dismiss what can be in one frame, one popup after the other."""
        failed: set[str] = set()
        while self.dismissed - before < MOST_PER_PASS:
            handle = await frame.evaluate_handle(script("popups"), [is_framed, _VENDORS])
            said = await handle.evaluate("(found) => found.popups")
            todo = [choice for choice in choices(map(Popup.of, said)) if _key(choice.popup) not in failed]
            if not todo:
                return
            if not await self._dismiss(frame, handle, todo[0]):
                failed.add(_key(todo[0].popup))

    async def _dismiss(self, frame: Frame, handle: JSHandle, choice: Choice) -> bool:
        """Press a control, and look whether the popup went; the next best one if it did not."""
        tried: list[int] = []
        following: Choice | None = choice
        while following is not None and len(tried) < TRIES:
            tried.append(following.control.index)
            if await self._pressed(frame, handle, following):
                self.dismissed += 1
                self._tell(frame, following)
                return True
            following = choice_in(choice.popup, tried)
        return False

    async def _pressed(self, frame: Frame, handle: JSHandle, choice: Choice) -> bool:
        """Whether a popup went after one of its controls was pressed, as a visitor would press it."""
        popup = await self._element(handle, choice.popup.index)
        control = await self._element(handle, choice.control.index)
        try:
            await control.click(timeout=CLICK_MS, no_wait_after=True)
        except Error:
            return False  # hidden, moving, or behind something else
        await self.clock.sleep(self.settle_seconds)
        try:
            return frame.is_detached() or not await popup.evaluate(_STILL_THERE)
        except Error:
            return frame.is_detached()

    async def _element(self, handle: JSHandle, index: int) -> Any:
        found = await handle.evaluate_handle("(found, index) => found.elements[index]", index)
        return found.as_element()

    def _tell(self, frame: Frame, choice: Choice) -> None:
        details = {"vendor": choice.popup.vendor} if choice.popup.vendor else {}
        if frame is not self.page.main_frame:
            details["frame"] = frame.url
        label = choice.control.label or choice.control.name
        self.note(
            "info", "popup", "popup.dismissed", kind=choice.kind.value, answer=choice.answer.value,
            label=label, **details, **{"pass": self.passes},
        )  # fmt: skip


def _key(popup: Popup) -> str:
    return f"{popup.hints} {popup.text[:200]}"
