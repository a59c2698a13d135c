"""The files of `deploy/` with the programs that they are for: nginx in front of a server, and promtool."""

from __future__ import annotations

import socket
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.programs.packages import unpacked
from tests.servers import Server, free_port
from tests.unit.archive.captured import SHOP, day, exchange, record
from tests.unit.web.conftest import TOKEN

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.unit.web.conftest import Serve, Served

DEPLOYED = Path(__file__).parents[3] / "deploy"
ROOM, REPLAY = "archive.example", "replay.example"
AROUND = """daemon off; pid {folder}/nginx.pid; error_log stderr; worker_processes 1;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    include {folder}/vitrine.conf;
}}
"""


class Behind:
    """A server, and a client that asks it through nginx."""

    def __init__(self, served: Served, client: httpx2.Client) -> None:
        self.served = served
        self._client = client

    def ask(self, host: str, path: str, method: str = "GET", **more: Any) -> httpx2.Response:
        """What is answered to a request for a host."""
        headers = {"Host": host, **more.pop("headers", {})}
        return self._client.request(method, path, headers=headers, **more)


@pytest.fixture
def behind(serve: Serve, tmp_path: Path) -> Generator[Behind]:
    """Nginx with the files that are deployed, but for its port, the server's address and its folder."""
    nginx = unpacked("nginx", "usr/sbin/nginx", tmp_path)
    if nginx is None:
        pytest.skip("nginx is not to be had here")
    served = serve(
        admin_token=TOKEN, public_hosts=ROOM, replay_base_url=f"http://{REPLAY}",
        trusted_proxies="127.0.0.1", rate_limit_per_minute=10,
    )  # fmt: skip
    port = free_port()
    for each in (DEPLOYED / "nginx").glob("*.conf"):
        text = each.read_text("utf-8").replace("http://web:8000", served.address)
        text = text.replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/etc/nginx", str(tmp_path))
        (tmp_path / each.name).write_text(text, "utf-8")
    config = tmp_path / "nginx.conf"
    config.write_text(AROUND.format(folder=tmp_path), "utf-8")
    command = [nginx, "-p", str(tmp_path), "-e", "stderr", "-c", str(config)]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    url = f"http://127.0.0.1:{port}"
    server = Server(
        command, tmp_path, port, url, lambda: socket.create_connection(("127.0.0.1", port)).close()
    )
    with server, closing(httpx2.Client(base_url=url, timeout=60)) as client:
        yield Behind(served, client)


@pytest.mark.soak(minutes=2)
def test_two_origins_behind_a_proxy(behind: Behind, tmp_path: Path) -> None:
    """Content on its own and nothing else there, addresses as they were sent, and no word of a stranger's."""
    record(
        behind.served.database, tmp_path / "warcs", exchange(SHOP, "<title>Shop</title><a href=/p>p", day(3)),
        exchange(f"{SHOP}%2Fa//b", "<p>slashes", day(3)),
    )  # fmt: skip
    inside = f"/web/20260503120000mp_/{SHOP}"
    page = behind.ask(REPLAY, inside)
    assert (page.status_code, page.headers["Content-Security-Policy"][:7]) == (200, "sandbox")
    assert f'href="http://{ROOM}/web/20260503120000/{SHOP}p"' in page.text
    assert behind.ask(ROOM, inside).headers["Location"] == f"http://{REPLAY}{inside}"
    assert f'src="http://{REPLAY}{inside}"' in behind.ask(ROOM, f"/web/2026/{SHOP}").text
    assert "slashes" in behind.ask(REPLAY, f"/web/2026id_/{SHOP}%2Fa//b").text
    for path in ("/", "/admin", "/api/health", "/web/", f"/web/2026/{SHOP}", "/static/vitrine.css"):
        assert (path, behind.ask(REPLAY, path).status_code) == (path, 404)
    assert behind.ask(REPLAY, inside, "POST").status_code == 403
    assert behind.ask(ROOM, "/admin/login", "POST", content=b"x" * 2**21).status_code == 413
    with pytest.raises(httpx2.RemoteProtocolError):
        behind.ask("evil.example", "/")
    stranger = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil"}
    through = [behind.ask(ROOM, "/api/stats", headers=stranger) for _ in range(30)]
    assert {each.status_code for each in through} == {200}  # nginx says who it was: this machine
    assert "Strict-Transport-Security" not in through[0].headers
    stranger["Host"] = ROOM
    past = [behind.served.get("/api/stats", headers=stranger).status_code for _ in range(30)]
    assert set(past) == {200, 429}  # what the trusted proxy says itself is believed


@pytest.mark.soak(minutes=2)
def test_promtool_finds_nothing_wrong(served: Served, tmp_path: Path) -> None:
    """Neither with the metrics nor with the alerts."""
    promtool = unpacked("prometheus", "usr/bin/promtool", tmp_path)
    if promtool is None:
        pytest.skip("promtool is not to be had here")
    served.get("/api/search?q=x")
    metrics = served.get("/metrics", headers={"X-Admin-Token": TOKEN}).content
    checked = subprocess.run([promtool, "check", "metrics"], input=metrics, capture_output=True, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
    rules = DEPLOYED / "alerts.yaml"
    done = subprocess.run([promtool, "check", "rules", rules], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
