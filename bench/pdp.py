"""Scores the verdicts on saved, labelled pages and times them beside extruct: `python -m bench.pdp`."""

from __future__ import annotations

import csv
import gzip
import os
import statistics
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import extruct
from attrs import frozen

from crawler.pdp import POLICIES, Verdict, judge, read_facts, read_page
from crawler.pdp.facts import account_in_dom, account_in_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.pdp.account import Account
    from crawler.pdp.page import Page

FOLDER_VARIABLE = "PDP_DEV_PAGES"
ROOT = Path(__file__).resolve().parent.parent
TIMED_BY_PEER = 60  # extruct takes a tenth of a second a page


@frozen
class SavedPage:
    """A saved page and what a person said about it."""

    id: str
    label: str
    site: str
    language: str
    currency: str
    era: str
    url: str
    body: bytes

    @property
    def is_pdp(self) -> bool:
        """Whether it was labelled a product page."""
        return self.label == "pdp"


@frozen
class Judged:
    """A page and the verdict on it."""

    page: SavedPage
    verdict: Verdict

    @property
    def is_right(self) -> bool:
        """Whether verdict and label agree."""
        return self.verdict.is_pdp == self.page.is_pdp


@frozen
class Outcome:
    """How a policy did on a set of pages."""

    true_positives: int
    false_positives: int
    false_negatives: int

    @property
    def precision(self) -> float:
        """The share of accepted pages that are product pages."""
        return self.true_positives / max(1, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """The share of product pages that were accepted."""
        return self.true_positives / max(1, self.true_positives + self.false_negatives)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(1e-9, self.precision + self.recall)


@frozen
class Accuracy:
    """The share of shown prices and currencies that are those of the structured data."""

    price: float
    currency: float
    pages: int


def pages_folder() -> Path | None:
    """The folder with `labels.csv` and `pages/`: named by the environment, or beside the repository."""
    named = os.environ.get(FOLDER_VARIABLE)
    folder = Path(named) if named else ROOT.parent / "shared" / "fixtures" / "pdp-dev"
    return folder if (folder / "labels.csv").is_file() else None


def saved_pages(folder: Path) -> list[SavedPage]:
    """Read all saved pages."""
    fields = ("id", "label", "site", "language", "currency", "era", "url")
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        return [
            SavedPage(
                **{name: row[name] for name in fields},
                body=gzip.decompress((folder / "pages" / f"{row['id']}.html.gz").read_bytes()),
            )
            for row in csv.DictReader(file)
        ]


def judged(pages: Iterable[SavedPage], policy: str) -> list[Judged]:
    """Judge the pages by one policy."""
    return [Judged(page, judge(read_page(page.body, url=page.url), policy)) for page in pages]


def outcome_of(results: Iterable[Judged]) -> Outcome:
    """Count what was accepted and what was missed."""
    count = Counter((result.verdict.is_pdp, result.page.is_pdp) for result in results)
    return Outcome(count[True, True], count[True, False], count[False, True])


def fact_accuracy(pages: Iterable[SavedPage]) -> Accuracy:
    """Compare what product pages show with what their JSON-LD states, where they have both."""
    return agreement(accounts_of(read_page(page.body, url=page.url)) for page in pages if page.is_pdp)


def accounts_of(page: Page) -> tuple[Account, Account]:
    """What a page states of its product, and what it shows."""
    return account_in_json(page), account_in_dom(page)


def agreement(accounts: Iterable[tuple[Account, Account]]) -> Accuracy:
    """How often what is stated is what is shown."""
    prices: list[bool] = []
    currencies: list[bool] = []
    for stated, shown in accounts:
        if not stated.price or not shown.price:
            continue
        prices.append(stated.price == shown.price)
        if stated.currency and shown.currency:
            currencies.append(stated.currency == shown.currency)
    return Accuracy(_share(prices), _share(currencies), len(prices))


def label_accuracy(pages: Iterable[SavedPage]) -> float:
    """The share of product pages with a currency whose currency is the one that a person noted."""
    known = [(page, read_facts(read_page(page.body, url=page.url)).currency) for page in pages if page.is_pdp]
    return _share([currency == page.currency for page, currency in known if currency and page.currency])


def main() -> None:
    """Print every figure."""
    folder = pages_folder()
    if folder is None:
        sys.stderr.write(f"no saved pages: set {FOLDER_VARIABLE} to a folder with labels.csv and pages/\n")
        return
    pages = saved_pages(folder)
    for policy in POLICIES:
        _print_policy(policy, judged(pages, policy))
    _print_facts(pages)
    _print_times(pages)


def _print_policy(policy: str, results: list[Judged]) -> None:
    outcome = outcome_of(results)
    print(
        f"\n{policy}: precision {outcome.precision:.3f}  recall {outcome.recall:.3f}"
        f"  F1 {outcome.f1:.3f}  ({len(results)} pages)"
    )
    for name in ("label", "language", "era"):
        _print_confusion(name, results)
    for result in results:
        if not result.is_right:
            said = "accepted" if result.verdict.is_pdp else "refused"
            fired = ", ".join(result.verdict.evidence)
            page, reasons = result.page, result.verdict.reasons
            print(f"  wrong: {page.id} {page.label} {page.site} {said}; fired: {fired}; {reasons}")


def _print_confusion(name: str, results: list[Judged]) -> None:
    groups: defaultdict[str, list[Judged]] = defaultdict(list)
    for result in results:
        groups[getattr(result.page, name)].append(result)
    print(f"  {name:10} {'pages':>6} {'accepted':>9} {'wrongly':>8} {'missed':>7}")
    for value, members in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        outcome = outcome_of(members)
        accepted = outcome.true_positives + outcome.false_positives
        wrong, missed = outcome.false_positives, outcome.false_negatives
        print(f"  {value:10} {len(members):6} {accepted:9} {wrong:8} {missed:7}")


def _print_facts(pages: list[SavedPage]) -> None:
    accuracy = fact_accuracy(pages)
    print(
        f"\nshown price agrees with JSON-LD: {accuracy.price:.3f}, currency {accuracy.currency:.3f}", end=" "
    )
    print(f"({accuracy.pages} pages with both); currency agrees with the label: {label_accuracy(pages):.3f}")


def _print_times(pages: list[SavedPage]) -> None:
    sample = pages[:: max(1, len(pages) // TIMED_BY_PEER)]
    rows = {
        "verdict": _times(pages, lambda page: judge(read_page(page.body, url=page.url))),
        "verdict and facts": _times(pages, _judge_and_read),
        f"extruct, defaults ({len(sample)} pages)": _times(sample, _extract),
    }
    print(f"\n{'milliseconds of CPU a page':32} {'median':>8} {'p95':>8}")
    for name, times in rows.items():
        print(f"{name:32} {statistics.median(times):8.2f} {statistics.quantiles(times, n=20)[-1]:8.2f}")
    own, peer = (
        _times(sample, run) for run in (lambda page: judge(read_page(page.body, url=page.url)), _extract)
    )
    ratio = statistics.median(peer) / statistics.median(own)
    print(f"on the same pages: {ratio:.0f} times faster, by the medians")


def _judge_and_read(saved: SavedPage) -> None:
    page = read_page(saved.body, url=saved.url)
    judge(page)
    read_facts(page)


def _extract(saved: SavedPage) -> None:
    extruct.extract(saved.body, base_url=saved.url, errors="ignore")


def _times(pages: Iterable[SavedPage], run: Callable[[SavedPage], object]) -> list[float]:
    times = []
    for page in pages:
        started = time.process_time()  # other jobs of the machine take no part in it
        run(page)
        times.append((time.process_time() - started) * 1000)
    return times


def _share(hits: list[bool]) -> float:
    return sum(hits) / len(hits) if hits else 1.0


if __name__ == "__main__":
    main()
