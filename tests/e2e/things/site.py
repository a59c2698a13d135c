"""The site that the project crawls: it logs its requests, and answers as the path says."""

from __future__ import annotations

import gzip
import json
import threading
import time
from base64 import b64encode
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

HTML = "text/html; charset=utf-8"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
PAGES = 12

Answer = tuple[int, dict[str, str], bytes]


def page(title: str, *parts: str) -> Answer:
    """An HTML page."""
    head = f"<!doctype html><html><head><title>{title}</title></head>"
    body = f"{head}<body><h1>{title}</h1>{''.join(parts)}</body></html>"
    return 200, {"Content-Type": HTML}, body.encode()


def link(path: str) -> str:
    """A link to a path."""
    return f'<a href="{path}">{path}</a> '


class Site:
    """A server on a free port of 127.0.0.1, with a log of the requests that it got."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.seen: Counter[str] = Counter()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                site.respond(self, self.rfile.read(length))

            do_GET = do_POST = do_HEAD = do_PUT = answer

            def log_message(self, *_: object) -> None:
                """Say nothing on stderr."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def respond(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        """Log a request and answer it."""
        where = urlsplit(request.path)
        noted = [(name, request.headers.get(name)) for name in ("X-Thing", "Authorization", "Cookie")]
        marks = [f"{name}={value}" for name, value in noted if value]
        self.log.append(" ".join([request.command, request.path, *marks, body.decode(errors="replace")]))
        self.seen[where.path] += 1
        answer = ANSWERS.get(where.path.split("/")[1], _not_found)
        status, headers, content = answer(self, request, body)
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(content)


def _not_found(*_: object) -> Answer:
    return 404, {"Content-Type": HTML}, b"<html><title>Not here</title></html>"


def _robots(*_: object) -> Answer:
    return 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /private\n"


def _home(*_: object) -> Answer:
    return page("Home", *(link(f"/p/{number}") for number in range(PAGES)))


def _product(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    number = urlsplit(request.path).path.rsplit("/", 1)[-1]
    return page(f"Product {number}", f'<p class="price">{number}.00 EUR</p>', link("/"))


def _chain(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    depth = int(request.path.rsplit("/", 1)[-1])
    return page(f"Depth {depth}", link(f"/chain/{depth + 1}"))


def _redirect(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    left = int(request.path.rsplit("/", 1)[-1])
    return 302, {"Location": f"/redirect/{left - 1}" if left else "/p/1"}, b""


def _refresh(*_: object) -> Answer:
    return page("Refresh", '<meta http-equiv="refresh" content="0; url=/p/2">')


def _flaky(site: Site, request: BaseHTTPRequestHandler, _: bytes) -> Answer:
    """/flaky/STATUS/TIMES: fail so often, then be there."""
    status, times = request.path.split("/")[2:4]
    if site.seen[request.path] <= int(times):
        return int(status), {"Content-Type": HTML}, b"<html><title>Busy</title></html>"
    return page("Back again")


def _status(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    status = int(request.path.rsplit("/", 1)[-1])
    return status, {"Content-Type": HTML}, f"<html><title>Status {status}</title></html>".encode()


def _slow(*_: object) -> Answer:
    time.sleep(60)
    return page("Slow")


def _form(_: Site, request: BaseHTTPRequestHandler, body: bytes) -> Answer:
    if request.command == "POST":
        user = parse_qs(body.decode()).get("user", ["nobody"])[0]
        return 302, {"Location": "/account", "Set-Cookie": f"user={user}; Path=/"}, b""
    return page(
        "Form",
        '<form method="post" action="/form">',
        '<input name="token" type="hidden" value="t1"><input name="user"></form>',
    )


def _account(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    return page(f"Account {request.headers.get('Cookie', 'of nobody')}")


def _auth(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    if request.headers.get("Authorization") == "Basic " + b64encode(b"ann:secret").decode():
        return page("Members")
    return 401, {"Content-Type": HTML, "WWW-Authenticate": "Basic"}, b""


def _echo(_: Site, request: BaseHTTPRequestHandler, body: bytes) -> Answer:
    told = {"method": request.command, "body": body.decode(), "agent": request.headers.get("User-Agent")}
    return 200, {"Content-Type": "application/json"}, json.dumps(told).encode()


def _json(*_: object) -> Answer:
    return 200, {"Content-Type": "application/json"}, b'{"names": ["one", "two"]}'


def _csv(*_: object) -> Answer:
    return 200, {"Content-Type": "text/csv"}, b"name,price\none,1.00\ntwo,2.00\n"


def _xml(*_: object) -> Answer:
    return (
        200,
        {"Content-Type": "application/xml"},
        b"<?xml version='1.0'?><r><item><n>one</n></item><item><n>two</n></item></r>",
    )


def _sitemap(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    base = f"http://{request.headers['Host']}"
    urls = "".join(f"<url><loc>{base}/p/{number}</loc></url>" for number in range(3))
    text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return 200, {"Content-Type": "application/xml"}, text.encode()


def _image(*_: object) -> Answer:
    return 200, {"Content-Type": "image/png"}, PIXEL


def _gzip(*_: object) -> Answer:
    status, headers, body = page("Packed")
    return status, {**headers, "Content-Encoding": "gzip"}, gzip.compress(body, mtime=0)


def _latin(*_: object) -> Answer:
    return 200, {"Content-Type": "text/html; charset=iso-8859-1"}, "<title>Käse</title>".encode("latin-1")


def _big(*_: object) -> Answer:
    return page("Big", "x" * 200_000)


def _private(*_: object) -> Answer:
    return page("Private")


def _pdf(*_: object) -> Answer:
    return 200, {"Content-Type": "application/pdf"}, b"%PDF-1.4 nothing"


def _elsewhere(_: Site, request: BaseHTTPRequestHandler, __: bytes) -> Answer:
    port = request.headers["Host"].rpartition(":")[2]
    return page("Elsewhere", link(f"http://localhost:{port}/p/1"), link("/p/1"))


ANSWERS: dict[str, Callable[[Site, BaseHTTPRequestHandler, bytes], Answer]] = {
    "": _home, "robots.txt": _robots, "p": _product, "chain": _chain, "redirect": _redirect,
    "refresh": _refresh, "flaky": _flaky, "status": _status, "slow": _slow, "form": _form,
    "account": _account, "auth": _auth,
    "echo": _echo, "names.json": _json, "names.csv": _csv, "names.xml": _xml, "sitemap.xml": _sitemap,
    "pixel.png": _image, "gzip": _gzip, "latin": _latin, "big": _big, "private": _private,
    "paper.pdf": _pdf, "elsewhere": _elsewhere,
}  # fmt: skip
