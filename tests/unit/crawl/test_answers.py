"""What an answer or an error means for a page, and how long a site asks to be left alone."""

from __future__ import annotations

import time
from datetime import timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from sqlalchemy.exc import IntegrityError

from crawler.access.egress import EgressRefusedError
from crawler.capture.failures import Cause
from crawler.clock import utc_now
from crawler.crawl.answers import (
    DomainHeldError,
    FilteredError,
    HeadersTooLargeError,
    SessionStoppedError,
    cause_of_answer,
    cause_of_error,
    is_bot_block,
    page_of,
    retry_after,
)
from crawler.db.engine import DatabaseUnavailableError
from crawler.pdp import PageQuestion, reading_of
from crawler.reading.readers import ReadingFailedError
from tests.unit.components import a_request, an_answer, awaited

if TYPE_CHECKING:
    from crawler.pdp import Reading

CAPTCHA = b"<title>Attention required</title><script>x()</script><p>Verify you are human"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (EgressRefusedError("private"), Cause.EGRESS_REFUSED),
        (HeadersTooLargeError("much"), Cause.HEADERS_TOO_LARGE),
        (DownloadTimeoutError("slow"), Cause.TIMEOUT),
        (CannotResolveHostError("who"), Cause.UNKNOWN_HOST),
        (DownloadConnectionRefusedError("no"), Cause.CONNECTION_FAILED),
        (ResponseDataLossError("half"), Cause.TRUNCATED),
        (DownloadCancelledError("long"), Cause.TOO_LARGE),
        (DownloadFailedError("odd"), Cause.CONNECTION_FAILED),
        (UnsupportedURLSchemeError("gopher"), Cause.BAD_URL),
        (DatabaseUnavailableError("away"), Cause.DATABASE_UNAVAILABLE),
        (IntegrityError("insert", {}, Exception()), Cause.STORE_FAILED),
        (HttpError(an_answer(a_request(), status=302), "no target"), Cause.BAD_REDIRECT),
        (ConnectionResetError("reset"), Cause.CONNECTION_FAILED),
        (IgnoreRequest("Forbidden by robots.txt"), Cause.ROBOTS_REFUSED),
        (IgnoreRequest("max redirections reached"), Cause.REDIRECT_LOOP),
        (DomainHeldError("held"), Cause.DOMAIN_HELD),
        (SessionStoppedError("ended"), Cause.INTERRUPTED),
        (FilteredError("rules"), Cause.FILTERED),
        (RuntimeError("a bug"), Cause.CRASHED),
        (IgnoreRequest("for some reason of its own"), Cause.CRASHED),
    ],
    ids=lambda value: value.value if isinstance(value, Cause) else type(value).__name__,
)
def test_what_an_error_means(error: Exception, cause: Cause) -> None:
    """The more special first; what nobody knows is a crash, never a page that was fetched."""
    assert cause_of_error(error) == cause


@pytest.mark.parametrize(
    ("status", "body", "cause"),
    [
        (200, b"<h1>Jug</h1>", None),
        (200, b" \n ", Cause.EMPTY_PAGE),
        (200, CAPTCHA, Cause.BOT_BLOCK),
        (204, b"", Cause.ODD_STATUS),
        (403, b"<h1>Jug</h1>", Cause.BLOCKED),
        (404, b"<h1>Jug</h1>", Cause.HTTP_ERROR),
        (429, b"", Cause.RATE_LIMITED),
        (500, b"", Cause.HTTP_ERROR),
        (503, b"", Cause.BLOCKED),
    ],
)
def test_what_an_answer_means(status: int, body: bytes, cause: Cause | None) -> None:
    """Only 200 with something in it is the page that was asked for."""
    assert cause_of_answer(an_answer(a_request(), body, status)) == cause


@pytest.mark.parametrize(("flag", "cause"), [("truncated", Cause.TRUNCATED), ("partial", None)])
def test_half_a_page_is_none(flag: str, cause: Cause | None) -> None:
    """An answer without a length, which Scrapy calls partial, is whole."""
    answer = an_answer(a_request()).replace(flags=[flag])
    assert cause_of_answer(answer) == cause


def test_a_shop_that_speaks_of_captchas_is_a_shop() -> None:
    """Where that is all it says, it keeps robots out; in scripts and long pages it means nothing."""
    assert is_bot_block(an_answer(a_request(), CAPTCHA))
    assert not is_bot_block(an_answer(a_request(), b"<script>captcha()</script><!-- captcha --><h1>Jug</h1>"))
    assert not is_bot_block(an_answer(a_request(), b"<p>protected by captcha</p>" + b"<p>A jug. </p>" * 200))
    assert not is_bot_block(an_answer(a_request(), CAPTCHA, 403))


def test_what_hides_words_ends_where_it_does() -> None:
    """What begins and never ends hides nothing but itself."""
    for hidden in (b"<!-- captcha -->", b"<STYLE>captcha</style >", b"<a captcha>", b"<!-->captcha-->"):
        assert not is_bot_block(an_answer(a_request(), hidden))
    for seen in (b"<!-- >captcha", b"<script>captcha", b"<captcha", b"<script>x</script>captcha<script>"):
        assert is_bot_block(an_answer(a_request(), seen))


def test_markup_without_end_takes_no_time() -> None:
    """The look at an answer is the event loop's."""
    began = time.process_time()
    for piece in (b"<!--", b"<script>", b"<", b"</script ", b"<style></style   "):
        is_bot_block(an_answer(a_request(), piece * (64 * 1024 // len(piece))))
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120),
        (" 5 ", 5),
        ("", 0),
        ("soon", 0),
        ("-3", 0),
        ("9" * 400, 10**9),
        ("\u00b2", 0),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", 0),
        ("Mon, 01 Jan 2027 00:00:00 +99999999", 0),
    ],
)
def test_how_long_a_site_asks_to_be_left_alone(said: str, seconds: float) -> None:
    """Nonsense asks for nothing; no number is too long to be read."""
    assert retry_after(an_answer(a_request(), status=503, Retry_After=said)) == seconds


def test_a_date_is_a_delay_too() -> None:
    """One in the past is none."""
    soon = format_datetime(utc_now() + timedelta(hours=1))
    assert 3500 < retry_after(an_answer(a_request(), Retry_After=soon)) <= 3600
    assert retry_after(an_answer(a_request(), Retry_After="Wed, 21 Oct 2015 07:28:00 GMT")) == 0


class Readers:
    """Reads in this process; `error` is what a page does to them."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[PageQuestion] = []

    async def read(self, question: PageQuestion) -> Reading:
        """What one pass over the page finds."""
        self.asked.append(question)
        if self.error is not None:
            raise self.error
        return reading_of(question)


def page(readers: Readers, answer: Any, **options: bool) -> Any:
    """What becomes of an answer."""
    return awaited(page_of(readers, answer, "v1.2", **options))  # type: ignore[arg-type]


def test_what_is_not_the_page_is_not_read() -> None:
    """It costs no reader any time."""
    readers = Readers()
    assert page(readers, an_answer(a_request(), status=403)) == Cause.BLOCKED
    assert readers.asked == []


def test_a_page_that_kills_its_reader_costs_that_page() -> None:
    """And nothing else."""
    assert page(Readers(ReadingFailedError("gone")), an_answer(a_request())) == Cause.UNREADABLE
