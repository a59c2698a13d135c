"""`vitrine products` and `prices`: the history as a line of bars."""

from __future__ import annotations

from decimal import Decimal

from crawler.cli.products import BARS, sparkline


def test_a_sparkline_spans_from_low_to_high() -> None:
    """Flat prices lie flat, and only the newest are shown."""
    amounts = [Decimal(number) for number in (1, 8, 4)]
    assert sparkline(amounts) == f"{BARS[0]}{BARS[-1]}{BARS[3]}"
    assert len(set(sparkline([Decimal(3)] * 5))) == 1
    assert len(sparkline([Decimal(number) for number in range(100)], width=10)) == 10
    assert not sparkline([])
