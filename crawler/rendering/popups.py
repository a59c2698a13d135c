"""Which popup is dismissed, and by which control; decided on descriptions of both. Pure (SPEC F151)."""
# ruff: file-ignore[ambiguous-unicode-character-string] - as buttons have them

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

from attrs import frozen

from crawler.rendering.popup_words import ACCEPT, AGE, CLOSE, NEVER, REFUSE, STAY, TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_LABEL_CHARS = 60
SHORT_CHARS = 4
_SPACE = re.compile(r"\s+")
_EDGES = " .!…→›»«‹←"


class Kind(StrEnum):
    """What a popup wants; in the order in which they are dealt with."""

    MODAL = "modal"
    COOKIE = "cookie"
    NEWSLETTER = "newsletter"
    AGE = "age"
    GEO = "geo"


class Answer(StrEnum):
    """What a control says to it."""

    REFUSE = "refuse"
    CLOSE = "close"
    AGE = "age"
    STAY = "stay"
    ACCEPT = "accept"


# What may be said to each kind, the best first. "Yes" is said to nothing but cookies and an age.
ALLOWED: dict[Kind, tuple[Answer, ...]] = {
    Kind.MODAL: (Answer.CLOSE, Answer.REFUSE),
    Kind.COOKIE: (Answer.REFUSE, Answer.CLOSE, Answer.ACCEPT),
    Kind.NEWSLETTER: (Answer.CLOSE, Answer.REFUSE),
    Kind.AGE: (Answer.AGE,),
    Kind.GEO: (Answer.CLOSE, Answer.STAY, Answer.REFUSE),
}


@frozen
class Vendor:
    """A consent banner that many sites have: how it is told, refused, and kept from appearing at all."""

    name: str
    popup: str  # selectors
    refuse: str
    cookies: tuple[tuple[str, str], ...] = ()  # what it remembers of an answer
    storage: tuple[tuple[str, str], ...] = ()


VENDORS = (
    Vendor(
        "onetrust", "#onetrust-banner-sdk", "#onetrust-reject-all-handler, .ot-pc-refuse-all-handler",
        cookies=(
            ("OptanonAlertBoxClosed", "2026-01-01T00:00:00.000Z"),
            ("OptanonConsent", "isGpcEnabled=0&interactionCount=1&groups=C0001:1,C0002:0,C0003:0,C0004:0"),
        ),
    ),
    Vendor(
        "cookiebot", "#CybotCookiebotDialog", "#CybotCookiebotDialogBodyButtonDecline",
        cookies=(
            ("CookieConsent", "{necessary:true,preferences:false,statistics:false,marketing:false}"),
        ),
    ),
    Vendor(
        "usercentrics", "#usercentrics-root, #usercentrics-cmp-ui",
        "[data-testid='uc-deny-all-button'], #deny",
        storage=(("uc_user_interaction", "true"), ("uc_ui_version", "3.0.0")),
    ),
    Vendor("didomi", "#didomi-host", "#didomi-notice-disagree-button, .didomi-continue-without-agreeing"),
    Vendor("quantcast", "#qc-cmp2-container", "#qc-cmp2-container button[mode='secondary']:first-of-type"),
    Vendor("trustarc", "#truste-consent-track", "#truste-consent-required"),
    Vendor("cookieyes", ".cky-consent-container", ".cky-btn-reject"),
    Vendor("complianz", "#cmplz-cookiebanner-container", ".cmplz-deny"),
    Vendor("osano", ".osano-cm-window", ".osano-cm-denyAll"),
    Vendor("klaro", ".klaro .cookie-notice, .klaro .cookie-modal", ".klaro .cn-decline"),
    Vendor("iubenda", "#iubenda-cs-banner", ".iubenda-cs-reject-btn"),
    Vendor("axeptio", "#axeptio_overlay", "#axeptio_btn_dismiss"),
    Vendor("shopify", "#shopify-pc__banner", "#shopify-pc__banner__btn-decline"),
)  # fmt: skip


@frozen
class Control:
    """Something in a popup that can be pressed."""

    index: int
    label: str  # what it shows
    name: str = ""  # what is read out for it
    hints: str = ""  # its id and classes
    leads_away: bool = False  # a link to somewhere else
    is_vendors: bool = False  # by which its vendor's banner is refused

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """From what the page's script says of it."""
        return cls(
            said["index"], said["label"], said["name"], said["hints"], said["leadsAway"], said["isVendors"]
        )


@frozen
class Popup:
    """Something that lies over a page."""

    index: int
    text: str = ""
    hints: str = ""  # its id, classes and role
    has_email: bool = False
    vendor: str = ""
    controls: tuple[Control, ...] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Self:
        """From what the page's script says of it."""
        return cls(
            said["index"], said["text"], said["hints"], said["hasEmail"], said["vendor"],
            tuple(map(Control.of, said["controls"])),
        )  # fmt: skip


@frozen
class Choice:
    """A control that is to be pressed."""

    popup: Popup
    control: Control
    kind: Kind
    answer: Answer


def kind_of(popup: Popup) -> Kind:
    """What a popup wants, by its words; the strongest sign comes first."""
    words = f"{popup.hints} {popup.text}".lower()
    if popup.vendor or _speaks_of("cookie", words):
        return Kind.COOKIE
    if _speaks_of("age", words):
        return Kind.AGE
    if popup.has_email or _speaks_of("newsletter", words):
        return Kind.NEWSLETTER
    return Kind.GEO if _speaks_of("geo", words) else Kind.MODAL


def choices(popups: Iterable[Popup]) -> list[Choice]:
    """What to press, one control for each popup that has a safe one; in the order of the kinds."""
    found = [choice for popup in popups if (choice := choice_in(popup)) is not None]
    order = list(Kind)
    return sorted(found, key=lambda choice: order.index(choice.kind))


def choice_in(popup: Popup, without: Sequence[int] = ()) -> Choice | None:
    """The best safe control of a popup; `without` are those that have been tried."""
    kind = kind_of(popup)
    ranked: list[tuple[int, int, Choice]] = []
    for control in popup.controls:
        answer = None if control.index in without else answer_of(control)
        if answer in ALLOWED[kind]:
            rank = -1 if control.is_vendors else ALLOWED[kind].index(answer)
            ranked.append((rank, control.index, Choice(popup, control, kind, answer)))
    return min(ranked, key=itemgetter(0, 1))[2] if ranked else None


def answer_of(control: Control) -> Answer | None:
    """What a control says; None where that is not known to be harmless."""
    if control.leads_away:
        return None
    labels = [folded(label) for label in (control.label, control.name) if label.strip()]
    if any(_NEVER.search(label) for label in labels):
        return None
    if control.is_vendors:
        return Answer.REFUSE
    known = (answer for label in labels if (answer := _ANSWERS.get(label)) is not None)
    return next(known, None)


def folded(label: str) -> str:
    """One spelling for labels: lower case, without accents, ornaments and further spaces."""
    plain = unicodedata.normalize("NFKD", label.casefold().replace("ı", "i"))
    bare = "".join(char for char in plain if not unicodedata.combining(char))
    return _SPACE.sub(" ", bare.replace("’", "'")).strip(_EDGES)[:MAX_LABEL_CHARS]


def _speaks_of(topic: str, words: str) -> bool:
    return any(word in words for word in TOPICS[topic])


def _never(word: str) -> str:
    """A pattern: where words are parted, as their beginning; the shortest as whole words."""
    if not word.isascii():
        return re.escape(word)
    return rf"\b{re.escape(word)}" + (r"\b" if len(word) <= SHORT_CHARS else "")


def _answers() -> dict[str, Answer]:
    """What each label says; where one says two things, the more careful one."""
    tables = (
        (STAY, Answer.STAY), (AGE, Answer.AGE), (ACCEPT, Answer.ACCEPT), (CLOSE, Answer.CLOSE),
        (REFUSE, Answer.REFUSE),
    )  # fmt: skip
    return {folded(word): answer for table, answer in tables for words in table.values() for word in words}


_ANSWERS = _answers()
_NEVER = re.compile("|".join(_never(folded(word)) for word in NEVER))
