"""Each saved page shows one trap or idiom; its verdicts and facts are pinned beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crawler.pdp import POLICIES, facts_as_dict, judge, read_facts, read_page

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/expected.json"))
LEAST_CASES = 60


def expected_of(case: Path) -> dict[str, Any]:
    """What the case pins."""
    expected: dict[str, Any] = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    return expected


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verdict(case: Path, policy: str) -> None:
    """The page gets the verdict, the signals and the reasons that are written beside it."""
    expected = expected_of(case)
    verdict = judge(read_page((case / "page.html").read_bytes(), url=expected["url"]), policy)
    assert {
        "is_pdp": verdict.is_pdp,
        "signals": verdict.signals.as_dict(),
        "reasons": list(verdict.reasons),
    } == expected["verdicts"][policy], expected["about"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if "facts" in expected_of(case)], ids=lambda case: case.name
)
def test_facts(case: Path) -> None:
    """The page says about its product what is written beside it."""
    expected = expected_of(case)
    facts = facts_as_dict(read_facts(read_page((case / "page.html").read_bytes(), url=expected["url"])))
    assert {name: facts[name] for name in expected["facts"]} == expected["facts"], expected["about"]


def test_enough_cases() -> None:
    """The collection does not shrink unnoticed."""
    assert len(CASES) >= LEAST_CASES
