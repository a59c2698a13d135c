"""A contract on a saved page: no network, and the verdict that was written down for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from itemadapter import ItemAdapter
from scrapy.contracts import Contract
from scrapy.exceptions import ContractFail

from crawler.middlewares.saved_pages import saved_page_meta


class SavedPage(Contract):
    """`@saved_page FOLDER`: the folder's page.html, judged as its expected.json says."""

    name = "saved_page"

    def __init__(self, method: Any, *args: Any) -> None:
        super().__init__(method, *args)
        self.folder = Path(args[0])
        self.expected = json.loads((self.folder / "expected.json").read_bytes())

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Ask for the file instead of the URL."""
        meta = {**(args.get("meta") or {}), **saved_page_meta(self.folder / "page.html")}
        return {**args, "url": self.expected["url"], "meta": meta}

    def post_process(self, output: list[Any]) -> None:
        """Hold the callback's verdict against the expected one."""
        items = [ItemAdapter(item) for item in output if ItemAdapter.is_item(item)]
        verdicts = [item for item in items if "is_pdp" in item and "policy" in item]
        if len(verdicts) != 1:
            raise ContractFail(f"{self.folder}: {len(verdicts)} verdicts instead of one")
        [found], policy = verdicts, verdicts[0]["policy"]
        expected = self.expected["verdicts"][policy]
        told = {name: found.get(name) for name in ("is_pdp", "signals", "reasons")}
        for name, value in expected.items():
            if told[name] != value:
                raise ContractFail(f"{self.folder}: {name} is {told[name]}, not {value} ({policy})")
