"""Scores the product-page rule on folders of labelled pages, in five folds by site.

`python -m scripts.score_rule FOLDER…`, where a folder has `labels.csv` and `pages/*.html.gz`. `--hide 5`
keeps back which pages of a fold are wrong, so that its figure stays an estimate for pages that nobody has
seen. `--save FILE` and `--against FILE` tell what a change has mended and broken, in the folds that it was
made from and in the others.
"""

from __future__ import annotations

from crawler import interrupts

if __name__ == "__main__":
    interrupts.end_at_once()

import argparse
import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a file it knows its own folder alone

from bench.pdp import Judged, judged, outcome_of, pages_folder, saved_pages
from crawler.pdp import POLICIES

FOLDS = 5


def fold_of(site: str) -> int:
    """The fold of a site, from 1: by its name alone, so that a new page moves no other."""
    return int.from_bytes(hashlib.sha256(site.lower().encode()).digest()[:4], "big") % FOLDS + 1


def figures(results: list[Judged]) -> str:
    """Precision, recall and F on one line."""
    outcome = outcome_of(results)
    return f"P {outcome.precision:.3f}  R {outcome.recall:.3f}  F {outcome.f1:.3f}"


def table(results: list[Judged]) -> list[str]:
    """The figures of all pages, and of each fold."""
    lines = [f"  all    {len(results):4} pages  {figures(results)}"]
    for fold in range(1, FOLDS + 1):
        members = [result for result in results if fold_of(result.page.site) == fold]
        lines.append(f"  fold {fold} {len(members):4} pages  {figures(members)}")
    return lines


def wrong_pages(results: list[Judged], hidden: set[int]) -> list[str]:
    """The pages whose verdict is not their label, but for those of hidden folds."""
    lines = []
    for result in sorted(results, key=lambda result: (fold_of(result.page.site), result.page.id)):
        page, verdict, fold = result.page, result.verdict, fold_of(result.page.site)
        if not result.is_right and fold not in hidden:
            said = "accepted" if verdict.is_pdp else f"refused: {', '.join(verdict.reasons)}"
            fired = ", ".join(name.removeprefix("has_") for name in verdict.evidence)
            lines.append(f"  fold {fold}  {page.id} {page.label:7} {page.site}  {said}; fired: {fired}")
    return lines


def changes(before: dict[str, bool], results: list[Judged], hidden: set[int]) -> list[str]:
    """What was mended and what was broken since, by fold; the pages themselves but for hidden folds."""
    moved = [result for result in results if before.get(result.page.id, result.is_right) != result.is_right]
    count = Counter((fold_of(result.page.site), result.is_right) for result in moved)
    lines = [
        f"  fold {fold}: {count[fold, True]} mended, {count[fold, False]} broken"
        for fold in range(1, FOLDS + 1)
        if count[fold, True] or count[fold, False]
    ]
    shown = [result for result in moved if fold_of(result.page.site) not in hidden]
    words = {True: "mended", False: "broken"}
    lines += [f"    {words[result.is_right]} {result.page.id} {result.page.site}" for result in shown]
    return lines or ["  nothing changed"]


def main(arguments: list[str]) -> int:
    """Print what each version of the rule makes of the pages."""
    asked = _parser().parse_args(arguments)
    known = pages_folder()
    folders = asked.folders or ([known, known.with_name(known.name + "2")] if known else [])
    missing = [folder for folder in folders if not (folder / "labels.csv").is_file()]
    if missing or not folders:
        sys.stderr.write(f"error[usage]: no labels.csv in {missing[0] if missing else 'any folder'}\n")
        return 2
    pages = [page for folder in folders for page in saved_pages(folder)]
    before = json.loads(asked.against.read_text()) if asked.against else None
    hidden = set(asked.hide)
    right: dict[str, dict[str, bool]] = {}
    for policy in asked.policy or POLICIES:
        results = judged(pages, policy)
        right[policy] = {result.page.id: result.is_right for result in results}
        print("\n".join([policy, *table(results), *wrong_pages(results, hidden)]))
        if before is not None:
            print("\n".join(["  since then:", *changes(before[policy], results, hidden)]))
    if asked.save:
        asked.save.write_text(json.dumps(right))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.score_rule", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="folders with labels.csv and pages/")
    parser.add_argument("--hide", action="append", type=int, default=[], metavar="FOLD")
    parser.add_argument("--policy", action="append", choices=list(POLICIES))
    parser.add_argument("--save", type=Path, metavar="FILE", help="write down which pages are right")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with what was written down")
    return parser


if __name__ == "__main__":
    sys.exit(interrupts.run(lambda: main(sys.argv[1:])))
