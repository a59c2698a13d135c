"""Which popup is dismissed and by what, decided on descriptions: no browser is asked."""

from __future__ import annotations

from itertools import starmap

import pytest

from crawler.rendering.popup_words import ACCEPT, AGE, CLOSE, REFUSE, STAY
from crawler.rendering.popups import (
    ALLOWED,
    Answer,
    Control,
    Kind,
    Popup,
    answer_of,
    choice_in,
    kind_of,
)

COOKIES = "We use cookies to improve your visit."
TABLES = {
    Answer.REFUSE: REFUSE, Answer.CLOSE: CLOSE, Answer.ACCEPT: ACCEPT, Answer.AGE: AGE, Answer.STAY: STAY,
}  # fmt: skip


def popup(text: str, *labels: str, **more: object) -> Popup:
    """A popup with buttons."""
    controls = tuple(starmap(Control, enumerate(labels)))
    return Popup(100, text=text, controls=controls, **more)  # type: ignore[arg-type]


def pressed(found: Popup) -> str | None:
    """The label of what is pressed in it."""
    choice = choice_in(found)
    return None if choice is None else choice.control.label


@pytest.mark.parametrize("answer", TABLES)
def test_every_listed_word_is_understood(answer: Answer) -> None:
    """In whatever case and with whatever around it; none of them is one that is never pressed."""
    for language, words in TABLES[answer].items():
        for word in words:
            for spelt in (word, word.upper(), f"  {word}! ", word.replace(" ", "\u00a0")):
                assert answer_of(Control(0, spelt)) is not None, (language, spelt)


@pytest.mark.parametrize(
    ("language", "label"),
    [("de", "Nur notwendige Cookies"), ("fr", "Continuer sans accepter"), ("es", "Rechazar todo"),
     ("it", "Rifiuta tutto"), ("pt", "Recusar todos"), ("nl", "Alles weigeren"), ("sv", "Neka alla"),
     ("da", "Afvis alle"), ("no", "Avslå alle"), ("fi", "Hylkää kaikki"), ("pl", "Odrzuć wszystkie"),
     ("cs", "Odmítnout vše"), ("tr", "Tümünü reddet"), ("ja", "すべて拒否"), ("en", "Reject all")],
)  # fmt: skip
def test_a_banner_is_refused_in_its_own_language(language: str, label: str) -> None:
    """Rather than agreed to, though that comes first."""
    yes = ACCEPT[language][1]
    assert pressed(popup("Cookies", yes, label)) == label
    assert pressed(popup("Cookies", yes)) == yes  # where nothing else is offered


@pytest.mark.parametrize(
    "label",
    ["Buy now", "Add to basket", "Checkout", "Subscribe", "Sign up", "Subscribe and close", "Allow",
     "Allow notifications", "Enable notifications", "Allow all", "Register", "Log in", "Download the app",
     "Jetzt kaufen", "Abonnieren", "S'inscrire", "Comprar ahora", "Acquista", "通知を許可", "購入する",
     "Yes, send me offers", "Get 10% off", "Continue", "Shop now", "Settings", "Manage preferences", "", "✓"],
)  # fmt: skip
@pytest.mark.parametrize("text", [COOKIES, "Join our newsletter", "Something new", "18+ only"])
def test_nothing_is_bought_subscribed_or_allowed(label: str, text: str) -> None:
    """Nor is anything pressed of which it is not known what it does."""
    assert choice_in(popup(text, label)) is None


def test_what_is_agreed_to_is_cookies_and_an_age_and_nothing_else() -> None:
    """`OK` in a letter's modal would subscribe, `yes` in a chat would begin one."""
    assert pressed(popup(COOKIES, "OK")) == "OK"
    assert pressed(popup("Join our newsletter", "OK")) is None
    assert pressed(popup("A new collection is here", "OK", "Yes")) is None
    assert pressed(popup("Are you over 18 years old?", "No", "Yes")) == "Yes"
    assert Answer.ACCEPT not in {
        answer for kind in Kind if kind is not Kind.COOKIE for answer in ALLOWED[kind]
    }


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (popup(COOKIES), Kind.COOKIE),
        (popup("Wir achten Ihre Privatsphäre"), Kind.COOKIE),
        (popup("Hello", vendor="onetrust"), Kind.COOKIE),
        (popup("Ten percent off", has_email=True), Kind.NEWSLETTER),
        (popup("10 % Rabatt auf den ersten Einkauf"), Kind.NEWSLETTER),
        (popup("Sind Sie über 18 Jahre alt?"), Kind.AGE),
        (popup("You are in Germany", hints="geoip-modal"), Kind.GEO),
        (popup("Choose your country"), Kind.GEO),
        (popup("Our spring collection"), Kind.MODAL),
    ],
)
def test_what_a_popup_wants_is_told_by_its_words(found: Popup, kind: Kind) -> None:
    """And by what its markup calls it."""
    assert kind_of(found) is kind


def test_a_control_without_words_goes_by_the_name_that_is_read_out() -> None:
    """A cross is mostly drawn."""
    cross = Control(0, "", name="Close")
    assert choice_in(Popup(1, "New!", controls=(cross,))) is not None
    odd = Control(0, "", name="Close and subscribe")
    assert choice_in(Popup(1, "New!", controls=(odd,))) is None


def test_a_link_that_leads_away_is_no_dismissal() -> None:
    """Whatever it says."""
    assert choice_in(Popup(1, COOKIES, controls=(Control(0, "Reject all", leads_away=True),))) is None


def test_a_vendors_own_button_is_known_by_its_place() -> None:
    """Whatever it says, unless that is never pressed; it comes before all others."""
    controls = (Control(0, "Close"), Control(1, "Rather not", is_vendors=True))
    found = Popup(9, COOKIES, vendor="cookiebot", controls=controls)
    choice = choice_in(found)
    assert choice is not None
    assert (choice.control.index, choice.answer) == (1, Answer.REFUSE)
    bad = Popup(9, COOKIES, vendor="x", controls=(Control(1, "Buy now", is_vendors=True),))
    assert choice_in(bad) is None


def test_what_has_been_tried_is_not_tried_again() -> None:
    """The next best control is."""
    found = popup(COOKIES, "Reject all", "Close", "Accept")
    labels = []
    tried: list[int] = []
    while (choice := choice_in(found, tried)) is not None:
        tried.append(choice.control.index)
        labels.append(choice.control.label)
    assert labels == ["Reject all", "Close", "Accept"]
