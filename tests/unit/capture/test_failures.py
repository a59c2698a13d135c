"""Each cause has what follows from it, and none contradicts itself."""

from __future__ import annotations

import copy
import re

import pytest

from crawler.capture.failures import REFUSALS, Cause, Summary


def test_every_cause_is_a_word() -> None:
    """A column takes it, and gives it back: it is stable, short and in lower case."""
    assert all(Cause(str(cause)) is cause for cause in Cause)
    assert copy.copy(Cause.BLOCKED) is Cause.BLOCKED
    assert not [cause for cause in Cause if not re.fullmatch(r"[a-z_]{4,24}", cause)]
    assert all(isinstance(cause.summary, Summary) for cause in Cause)


@pytest.mark.parametrize("cause", list(Cause))
def test_no_cause_contradicts_itself(cause: Cause) -> None:
    """What is forbidden is no failure, and is not tried again; what a store did is not the page's fault."""
    traits = cause.traits
    if traits.is_refusal:
        assert not (traits.is_transient)
        assert not (traits.is_block)
    if traits.is_block:
        assert traits.is_transient  # it may let us in another day
    if traits.is_stores_fault or traits.cuts_short:
        assert not (traits.is_of_content)
        assert not (traits.is_transient)
    assert (cause in REFUSALS) is traits.is_refusal


def test_blocks_have_a_summary_that_says_so() -> None:
    """Operators look for them by it."""
    blocks = {cause.summary for cause in Cause if cause.traits.is_block}
    assert blocks == {Summary.BLOCKED, Summary.BOT_BLOCK_RELOAD, Summary.RATE_LIMITED}
