"""A service's life, seen from outside: a real process, a real server, real signals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.envelope import Wire
from contracts.rpc import Rpc
from runtime.bus.connection import jetstream
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcClient
from runtime.lifecycle.shutdown import OVERDUE_EXIT_CODE
from runtime.testing.servers import NatsServer, eventually

PROGRAM = Path(__file__).with_name("service_process.py")


class Ping(Wire):
    text: str


PING = Rpc("rpc.test.ping.v1", Ping, Ping, queue="test")


class Process:
    """The sample service and what it has printed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            self.lines.append(line.decode().rstrip())

    def event(self, name: str) -> dict[str, Any] | None:
        for line in self.lines:
            if line.startswith("{"):
                event: dict[str, Any] = json.loads(line)
                if event["event"] == name:
                    return event
        return None

    async def until(self, name: str, deadline: float = 40) -> dict[str, Any]:
        return await eventually(lambda: self.event(name), deadline) or {}

    async def get(self, path: str) -> tuple[int, dict[str, Any]]:
        port = (await self.until("service.listening"))["port"]

        def fetch() -> tuple[int, bytes]:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                return error.code, error.read()

        status, body = await asyncio.to_thread(fetch)
        return status, json.loads(body) if body.startswith(b"{") else {"text": body.decode()}

    async def end(self, how: signal.Signals = signal.SIGTERM, deadline: float = 40) -> int:
        self.process.send_signal(how)
        return await asyncio.wait_for(self.process.wait(), deadline)


async def start(url: str, **environment: str) -> Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PROGRAM),
        env={**os.environ, "NEXUS_NATS_URL": url, **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    return Process(process)


@pytest.fixture
async def service(nats_server: NatsServer, nats_streams: Client) -> AsyncIterator[Process]:
    running = await start(nats_server.url)
    await running.until("service.ready")
    yield running
    if running.process.returncode is None:
        running.process.kill()
        await running.process.wait()


async def ready(service: Process) -> bool:
    return (await service.get("/readyz"))[0] == 200


async def test_it_is_ready_answers_and_tells_its_metrics(service: Process, nats_client: Client) -> None:
    assert await service.get("/healthz") == (
        200,
        {
            "status": "alive",
            "service": "sample",
            "loopSilence": pytest.approx(0, abs=1),
            "time": pytest.approx(time.time(), abs=60),
        },
    )
    status, body = await service.get("/readyz")
    assert (status, body["status"], body["checks"]["nats"]["ok"]) == (200, "ready", True)
    assert (await RpcClient(nats_client).call(PING, Ping(text="hello"))).text == "hello"
    status, body = await service.get("/metrics")
    assert 'nexus_rpc_served_total{method="rpc.test.ping.v1",outcome="ok"} 1.0' in body["text"]
    assert 'nexus_dead_letters_total{service="sample",stream="CHAT"} 0.0' in body["text"]


async def test_on_sigterm_running_work_is_finished_and_the_exit_code_is_zero(
    service: Process, nats_client: Client
) -> None:
    await Publisher(nats_client).append("tools.call.requested.v1.x", b"job", stream="TOOLS", msg_id="1")
    await eventually(lambda: "begun job" in service.lines)
    assert await service.end() == 0
    await service.until("service.stopped")
    assert service.lines.index("finished job") < service.lines.index("closed")


async def test_it_serves_on_for_its_notice_and_gives_back_what_does_not_finish_in_time(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    running = await start(nats_server.url, WORK_SECONDS="60", DRAIN_SECONDS="4", NEXUS_DRAIN_NOTICE="1.5")
    await running.until("service.ready")
    await Publisher(nats_streams).append("tools.call.requested.v1.x", b"job", stream="TOOLS", msg_id="1")
    await eventually(lambda: "begun job" in running.lines)
    ended = asyncio.create_task(running.end())
    await running.until("service.draining")
    assert await running.get("/readyz") == (503, {"status": "draining", "checks": {}})
    await Publisher(nats_streams).append("tools.call.requested.v1.y", b"one more", stream="TOOLS", msg_id="2")
    await eventually(lambda: "begun one more" in running.lines)
    assert await ended == 0
    other = await start(nats_server.url, WORK_SECONDS="0")
    await eventually(lambda: {"finished job", "finished one more"} <= {*other.lines})
    assert await other.end(signal.SIGINT) == 0


async def test_a_full_stream_makes_its_writers_not_ready_until_there_is_room(
    nats_server: NatsServer, nats_client: Client
) -> None:
    running = await start(nats_server.url, NEXUS_STREAMS_SIZES="CHAT=1MiB")
    await running.until("service.ready")
    for number in range(10):
        subject, body = "chat.a.b.message.visitor.v1", b"x" * 103_000
        await Publisher(nats_client).append(subject, body, stream="CHAT", msg_id=str(number))

    async def told() -> bool:
        status, body = await running.get("/readyz")
        return status == 503 and "stream CHAT: full" in body["checks"]["storage"].get("error", "")

    await eventually(told)
    await jetstream(nats_client).purge_stream("CHAT")
    await eventually(lambda: ready(running))
    assert await running.end() == 0


async def test_a_process_that_hangs_is_ended_at_its_drain_deadline(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    running = await start(nats_server.url, HANGS="loop", DRAIN_SECONDS="2")
    await running.until("service.ready")
    assert await running.end() == OVERDUE_EXIT_CODE
    await running.until("service.overdue")


@pytest.mark.parametrize(("what", "seconds"), [("import", "60"), ("thread", "2")])
async def test_a_process_does_not_wait_for_threads(
    what: str, seconds: str, nats_server: NatsServer, nats_streams: Client
) -> None:
    running = await start(nats_server.url, HANGS=what, DRAIN_SECONDS=seconds)
    await running.until("service.ready")
    assert await running.end() == 0
    await running.until("service.stopped")


async def test_a_process_that_is_still_importing_handles_sigterm(tmp_path: Path) -> None:
    # Without a handler the kernel ends it too (-15), but not as process 1 of a container.
    (tmp_path / "slow.py").write_text("print('importing', flush=True)\ninput()\n")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", "from runtime.lifecycle.process import run; run('slow:main')"),
        cwd=tmp_path,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"importing\n"
    process.terminate()
    assert await process.wait() == 128 + signal.SIGTERM


@pytest.mark.own_servers
async def test_a_process_ends_although_the_bus_is_frozen(nats_server: NatsServer, nats_streams: Client) -> None:
    running = await start(nats_server.url, DRAIN_SECONDS="3")
    await running.until("service.ready")
    nats_server.pause()
    assert await running.end() in (0, OVERDUE_EXIT_CODE)
    nats_server.resume()


@pytest.mark.own_servers
async def test_a_frozen_bus_makes_it_not_ready_and_a_thawed_one_ready(
    service: Process, nats_server: NatsServer
) -> None:
    nats_server.pause()
    status, body = await service.get("/readyz")
    assert (status, body["checks"]["nats"]["ok"]) == (503, False)
    assert (await service.get("/healthz"))[0] == 200
    nats_server.resume()
    await eventually(lambda: ready(service))


async def test_a_frozen_event_loop_says_so(service: Process, nats_client: Client) -> None:
    call = asyncio.create_task(RpcClient(nats_client).call(PING, Ping(text="freeze"), deadline=60))
    await eventually(lambda: service.event("service.ready"))

    async def frozen() -> bool:
        status, body = await service.get("/readyz")
        return status == 503 and "not turned" in body["checks"].get("loop", {}).get("error", "")

    await eventually(frozen)
    assert service.process.stdin is not None
    service.process.stdin.write(b"go on\n")
    assert (await call).text == "freeze"
    await eventually(lambda: ready(service))


@pytest.mark.own_servers
async def test_it_serves_again_after_the_bus_was_restarted(
    service: Process, nats_server: NatsServer, nats_client: Client
) -> None:
    nats_server.restart()
    assert (await RpcClient(nats_client).call(PING, Ping(text="again"), deadline=40)).text == "again"


async def test_without_a_bus_it_ends_with_one_clear_line() -> None:
    running = await start("nats://127.0.0.1:1", NEXUS_NATS_CONNECT_DEADLINE="0.5")
    assert await asyncio.wait_for(running.process.wait(), 40) == 1
    problem = await running.until("service.not_ready")
    assert "NEXUS_NATS_URL" in problem["error"]


async def test_a_wrong_setting_of_the_log_is_one_clear_line_for_its_supervisor_too() -> None:
    running = await start("nats://127.0.0.1:1", NEXUS_LOG_LEVEL="loud")
    assert await asyncio.wait_for(running.process.wait(), 40) == 1
    problem = await running.until("service.not_ready")
    assert problem["retryable"] is False
    assert "NEXUS_LOG_LEVEL" in problem["error"]


async def test_a_signal_during_the_start_ends_it_too() -> None:
    running = await start("nats://127.0.0.1:1")
    await running.until("service.listening")
    assert await running.end() == 0
