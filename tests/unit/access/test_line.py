"""Sessions of one domain stand in line inside a process."""

from __future__ import annotations

from crawler.access.acquisition import Line


def test_first_come_first_served() -> None:
    """Whoever came first goes first; the next one comes up when it leaves."""
    line = Line()
    first, second, third = (line.join("example.com") for _ in range(3))
    assert [place.is_first() for place in (first, second, third)] == [True, False, False]
    second.leave()
    first.leave()
    assert third.is_first()


def test_domains_have_their_own_lines() -> None:
    """Nobody waits behind a session of another domain."""
    line = Line()
    assert line.join("example.com").is_first()
    assert line.join("example.org").is_first()


def test_leaving_twice_moves_nobody_else() -> None:
    """A place is given up once."""
    line = Line()
    first, second, third = (line.join("example.com") for _ in range(3))
    first.leave()
    first.leave()
    assert second.is_first()
    assert not third.is_first()
