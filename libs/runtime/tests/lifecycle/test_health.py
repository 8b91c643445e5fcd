"""Checks, their deadlines, and the port they are served on."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
import urllib.request

import pytest
import uvicorn
from prometheus_client import REGISTRY

from runtime.errors import NotReadyError
from runtime.http.web_server import QuietServer
from runtime.lifecycle import health as module
from runtime.lifecycle.health import Health, HealthServer
from runtime.testing.servers import eventually


async def fine() -> None:
    pass


async def broken() -> None:
    raise ConnectionError("database away")


async def hangs() -> None:
    await asyncio.Event().wait()


async def test_one_failing_check_makes_it_not_ready_and_is_named() -> None:
    health = Health("memory")
    health.started()
    assert (await health.report()).status == "starting"
    health.add_check("good", fine)
    health.ready()
    assert (await health.report()).ready
    health.add_check("mongodb", broken)
    report = await health.report()
    assert not report.ready
    assert report.body()["checks"]["mongodb"]["error"] == "database away"
    assert report.checks["good"].ok
    held = [REGISTRY.get_sample_value("nexus_check_holds", {"check": name}) for name in ("good", "mongodb")]
    assert held == [1.0, 0.0]
    health.draining()
    assert (await health.report()).status == "draining"
    await health.stop()


async def test_a_check_that_hangs_fails_at_its_deadline() -> None:
    health = Health("memory")
    health.started()
    health.add_check("redis", hangs)
    health.ready()
    report = await asyncio.wait_for(health.report(), 20)
    assert "no answer within" in (report.checks["redis"].error or "")
    await health.stop()


async def test_figures_that_are_late_for_one_request_are_there_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECK_DEADLINE", 0.01)
    begun, ended, gate = [0], [0], asyncio.Event()

    async def refresh() -> None:
        begun[0] += 1
        await gate.wait()
        ended[0] += 1

    health = Health("sample")
    health.before_metrics(refresh)
    health.started()
    health.ready()
    metrics = next(route.endpoint for route in health.routes() if route.path == "/metrics")
    await metrics(None)
    await eventually(lambda: begun == [1])
    await metrics(None)
    assert (begun, ended) == ([1], [0])
    gate.set()

    async def is_newer() -> bool:
        await metrics(None)
        return begun[0] > 1 and ended == begun

    await eventually(is_newer)
    await health.stop()


async def test_a_taken_port_is_an_error_that_says_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = HealthServer(Health("memory"), "127.0.0.1", taken.getsockname()[1])
        with pytest.raises(NotReadyError, match="another service"):
            await server.start()


async def test_its_three_paths_are_served_on_a_free_port() -> None:
    health = Health("gateway")
    health.started()
    server = HealthServer(health, "127.0.0.1", 0)
    await server.start()

    def get(path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{server.port}{path}", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    assert (await asyncio.to_thread(get, "/healthz"))[0] == 200
    assert (await asyncio.to_thread(get, "/readyz")) == (503, '{"status":"starting","checks":{}}')
    assert "nexus_event_loop_lag_seconds" in (await asyncio.to_thread(get, "/metrics"))[1]
    await server.stop()
    await health.stop()


class Plain(uvicorn.Server):
    """As it comes. Counts how often it wakes up."""

    wakes = 0
    capture_signals = QuietServer.capture_signals

    async def on_tick(self, counter: int) -> bool:
        self.wakes += 1
        return await super().on_tick(counter)


class Quiet(QuietServer, Plain):
    """Ours."""


async def test_a_server_at_rest_sleeps_and_ends_when_told() -> None:
    async def nothing(scope: object, receive: object, send: object) -> None: ...

    config = uvicorn.Config(nothing, port=0, log_config=None, lifespan="off", date_header=False)
    plain, quiet = Plain(config), Quiet(config)
    serving = [asyncio.create_task(one.serve()) for one in (plain, quiet)]
    await eventually(lambda: plain.wakes >= 5 and quiet.started)
    assert quiet.wakes == 1
    quiet.end()
    plain.should_exit = True
    async with asyncio.timeout(20):
        await asyncio.gather(*serving)
    assert quiet.wakes == 2
