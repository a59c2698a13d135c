"""Lists in statements have few lengths, and the same values."""

from __future__ import annotations

from crawler.db.lists import evened


def test_a_list_is_filled_up_with_its_last_value() -> None:
    """To a power of two; an empty one stays empty."""
    assert evened([]) == []
    assert evened([7]) == [7]
    assert evened((1, 2, 3)) == [1, 2, 3, 3]
    lengths = {len(evened(range(count))) for count in range(1_000)}
    assert lengths == {0, *(1 << power for power in range(11))}
    assert set(evened(range(999))) == set(range(999))
