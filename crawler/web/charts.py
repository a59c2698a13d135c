"""Small charts as inline SVG, in the colour of their text; a label says the same in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH, HEIGHT = 280, 44
GAP = 2


def bars(values: Sequence[float], label: str) -> Markup:
    """A bar for each value, from left to right; what is not nothing is always to be seen."""
    most = max(values, default=0) or 1
    step = WIDTH / max(len(values), 1)
    drawn = []
    for at, value in enumerate(values):
        height = max(2.0, HEIGHT * value / most) if value > 0 else 1.0
        faint = "" if value > 0 else ' opacity=".35"'
        drawn.append(
            f'<rect x="{at * step:.1f}" y="{HEIGHT - height:.1f}" width="{max(step - GAP, 1):.1f}" '
            f'height="{height:.1f}" rx="1"{faint}/>'
        )
    return _svg("".join(drawn), label)


def steps(values: Sequence[float], label: str) -> Markup:
    """A line that keeps its height until the next value, such as that of a price."""
    if not values:
        return Markup()
    low, high = min(values), max(values)
    spread = (high - low) or 1
    step = WIDTH / len(values)
    path = []
    for at, value in enumerate(values):
        y = 3 + (HEIGHT - 6) * (1 - (value - low) / spread)
        path.append(f"{'M' if not at else 'L'}{at * step:.1f} {y:.1f}H{(at + 1) * step:.1f}")
    return _svg(f'<path d="{"".join(path)}" fill="none" stroke="currentColor" stroke-width="2"/>', label)


def _svg(inner: str, label: str) -> Markup:
    return Markup(  # ruff: ignore[unsafe-markup-use] - numbers, and a label that is escaped
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(label)}" fill="currentColor">{inner}</svg>'
    )
