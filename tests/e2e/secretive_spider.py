"""A spider that proves itself in every way there is, and visits what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response


class SecretiveSpider(Spider):
    """Sends `secret` in headers, cookies and the URL itself."""

    name = "secretive"
    handle_httpstatus_all = True

    def __init__(self, url: str, paths: str, secret: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url = url
        self.paths = paths.split(",")
        self.secret = secret
        self.http_user, self.http_pass = f"{secret}1", f"{secret}2"
        self.http_auth_domain = None

    async def start(self) -> AsyncIterator[Request]:
        """Each path once."""
        for number, path in enumerate(self.paths):
            headers = {"Proxy-Authorization": f"Basic {self.secret}3", "X-Api-Key": f"{self.secret}8"}
            if number % 2:
                headers["Authorization"] = f"Bearer {self.secret}4"
            yield Request(
                self.url + path, headers=headers, cookies={"session": f"{self.secret}5"}, dont_filter=True
            )
        scheme, _, rest = self.url.partition("://")
        yield Request(f"{scheme}://{self.secret}6:{self.secret}7@{rest}/last", dont_filter=True)

    def parse(self, response: Response, **_: Any) -> dict[str, Any]:
        """Its status."""
        return {"status": response.status}
