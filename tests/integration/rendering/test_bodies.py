"""What a server sent is what is kept, however it was sent: packed, in pieces, over TLS, large, broken off."""

from __future__ import annotations

import gzip
import socketserver
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import brotli
import pytest
from playwright.async_api import Error
from scrapy.exceptions import DownloadCancelledError

from tests.integration.rendering.conftest import AT_A_GLANCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.rendering.conftest import Looker

MEGABYTE = 1024 * 1024
# Bytes that are no UTF-8, in a page that says nothing else than it is; and a line end that parsers mend.
PAGE = b"<!doctype html>\r\n<meta charset=utf-8><title>A</title>\r\n<body>caf\xe9 \xff\x00 <p>one\r\n"
LARGE = PAGE + b"<!--" + b"x" * (2 * MEGABYTE - len(PAGE) - 7) + b"-->"
AGAIN = b"<!doctype html><title>B</title><script>if (!name) { name = 1; location.reload() }</script>"


def sent(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8") -> bytes:
    """An answer as it goes over the wire."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def in_pieces(body: bytes) -> bytes:
    """A body in chunks, without its end."""
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    return b"".join(b"%x;of=no\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


ANSWERS = {
    "/plain": sent(PAGE, f"Content-Length: {len(PAGE)}"),
    "/gzip": sent(packed := gzip.compress(PAGE), "Content-Encoding: gzip", f"Content-Length: {len(packed)}"),
    "/brotli": sent(brotli.compress(PAGE), "Content-Encoding: br"),
    "/pieces": sent(in_pieces(PAGE) + b"0\r\nServer-Timing: a\r\n\r\n", "Transfer-Encoding: chunked"),
    "/latin": sent(PAGE, kind="text/html; charset=iso-8859-1"),
    "/large": sent(LARGE, f"Content-Length: {len(LARGE)}"),
    "/larger": sent(LARGE + b"x", f"Content-Length: {len(LARGE) + 1}"),
    "/unmodified": sent(b"", 'ETag: "1"', status="304 Not Modified"),
    "/again": sent(AGAIN, 'ETag: "1"', "Cache-Control: max-age=600", f"Content-Length: {len(AGAIN)}"),
    "/away": sent(b"gone", "Location: /plain", "Content-Length: 4", status="302 Found"),
    "/short": sent(PAGE, f"Content-Length: {len(PAGE) + 100}"),
    "/short-pieces": sent(in_pieces(PAGE), "Transfer-Encoding: chunked"),
    "/short-gzip": sent(packed[:-12], "Content-Encoding: gzip", f"Content-Length: {len(packed)}"),
}


class Wire(socketserver.StreamRequestHandler):
    """Sends what is wanted, byte for byte, and says no more."""

    server: Server

    def handle(self) -> None:
        """One request a connection."""
        lines = [self.rfile.readline()]
        while lines[-1].strip():
            lines.append(self.rfile.readline())
        self.server.asked.append(b"".join(lines))
        path = lines[0].split(b" ")[1:2]
        self.wfile.write(ANSWERS.get(path[0].decode() if path else "", sent(b"", status="404 Not Found")))


class Server(socketserver.ThreadingTCPServer):
    """Remembers what it was asked."""

    daemon_threads = True
    asked: list[bytes]
    url = ""


@pytest.fixture(scope="module", params=["http", "https"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that talks plainly, and one over TLS."""
    server = Server(("127.0.0.1", 0), Wire)
    if request.param == "https":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*_certificate(tmp_path_factory.mktemp("tls")))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    server.url, server.asked = f"{request.param}://127.0.0.1:{server.server_address[1]}", []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def looked(looker: Looker, server: Server, path: str, **settings: Any) -> Any:
    """A look at one of its pages; nobody vouches for its certificate, and here that does not matter."""
    return looker.look(server.url + path, context={"ignore_https_errors": True}, **AT_A_GLANCE, **settings)


@pytest.mark.parametrize("path", ["/plain", "/gzip", "/brotli", "/pieces", "/latin"])
def test_a_body_is_kept_to_the_byte(looker: Looker, server: Server, path: str) -> None:
    """Unpacked, and not read in any charset."""
    rendered = looked(looker, server, path).rendered
    assert rendered is not None
    assert rendered.sent == PAGE


def test_a_body_is_taken_up_to_what_a_page_may_bring(looker: Looker, server: Server) -> None:
    """And not a byte beyond."""
    assert looked(looker, server, "/large", render_max_mb=3).rendered.sent == LARGE


@pytest.mark.parametrize("path", ["/short", "/short-pieces", "/short-gzip"])
def test_a_body_that_breaks_off_is_no_page(looker: Looker, server: Server, path: str) -> None:
    """What came of it is not passed off as what the server has; to ask again is the policy's.

    Over TLS that is known of bodies with a length alone: a browser that hands out what arrived does not say
    why it was no more.
    """
    if server.url.startswith("https:") and path != "/short":
        assert looked(looker, server, path).rendered is not None
        return
    with pytest.raises(Error) as failed:
        looked(looker, server, path)
    assert "net::ERR_CONNECTION_CLOSED" in failed.value.message


def test_one_that_is_larger_than_a_page_may_be_is_given_up(looker: Looker, server: Server) -> None:
    """By one byte."""
    with pytest.raises(DownloadCancelledError):
        looked(looker, server, "/larger", render_max_mb=2)


def test_where_a_redirect_leads_is_not_asked_for(looker: Looker, server: Server) -> None:
    """It is for the crawl to follow, through gate and robots.txt."""
    server.asked.clear()
    response = looked(looker, server, "/away").response
    assert (response.status, response.headers["Location"]) == (302, f"{server.url}/plain".encode())
    assert [asked for asked in server.asked if b"/plain" in asked.partition(b"\r\n")[0]] == []


def test_a_page_is_never_asked_for_as_if_it_were_known(looker: Looker, server: Server) -> None:
    """One that loads itself again is sent whole again; a 304 that nobody asked for is no page."""
    server.asked.clear()
    seen = looked(looker, server, "/again")
    assert seen.rendered.sent == AGAIN
    assert seen.traffic.document.reloads == 1
    assert not [asked for asked in server.asked if b"if-none-match" in asked.lower()]
    with pytest.raises(Error):
        looked(looker, server, "/unmodified")
