"""Charts: what is drawn for which values, and that a label is text."""

from __future__ import annotations

import re

import pytest

from crawler.web.charts import HEIGHT, WIDTH, bars, steps


def heights(svg: str) -> list[float]:
    """Of the bars."""
    return [float(each) for each in re.findall(r'height="([\d.]+)" rx', svg)]


def test_bars_are_as_high_as_their_values() -> None:
    """The largest fills the chart; what is little can be seen, and nothing is a faint line."""
    svg = bars([0, 1, 1_000_000, 500_000], "visits")
    assert heights(svg) == [1.0, 2.0, HEIGHT, HEIGHT / 2]
    assert svg.count("opacity") == 1


@pytest.mark.parametrize("values", [[], [0], [0, 0], [-5.0, 0], [3], [1] * 1000])
def test_any_values_stay_within_the_chart(values: list[float]) -> None:
    """None at all, nothing but zeros, more than there are dots."""
    svg = bars(values, "visits")
    assert svg.count("<rect") == len(values)
    assert all(0 < height <= HEIGHT for height in heights(svg))
    assert all(float(x) < WIDTH for x in re.findall(r'x="([\d.]+)" y', svg))
    assert not re.search(r"nan|inf", svg)


def test_a_price_keeps_its_height_until_the_next() -> None:
    """The lowest at the bottom, the highest at the top; one price is a line, and none is nothing."""
    path = re.findall(r"[ML]([\d.]+) ([\d.]+)H([\d.]+)", steps([10, 20, 15], "prices"))
    assert [float(y) for _, y, _ in path] == [HEIGHT - 3, 3, HEIGHT / 2]
    assert [end for *_, end in path[:-1]] == [begin for begin, *_ in path[1:]]
    assert path[-1][2] == f"{WIDTH}.0"
    assert steps([7], "prices").count("H") == 1
    assert not steps([], "prices")


def test_a_label_is_no_markup() -> None:
    """It may be a site's own words."""
    for chart in (bars, steps):
        svg = chart([1], '"><script>alert(1)</script>')
        assert "<script>" not in svg
        assert 'aria-label="&#34;&gt;' in svg
