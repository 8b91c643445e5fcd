"""Health: /healthz (alive), /readyz (able to work) and /metrics.

They are served from a separate thread with its own event loop, so that a frozen service can still report that it is
frozen: the checks run on the service's loop, with a deadline, and a hanging loop fails them all. The bus is checked
with a message to itself, since a frozen server keeps its connections open and looks connected.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import structlog
import uvicorn
from nats.aio.client import Client
from nats.errors import Error as NatsError
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from runtime.bus.replies import ReplyInbox
from runtime.errors import NotReadyError
from runtime.http.web_server import QuietServer
from runtime.liveness import Liveness
from runtime.observability.logging import masked_text
from runtime.observability.metrics import CHECK_HOLDS, LOOP_LAG, NATS_CONNECTED

log = structlog.get_logger(__name__)

Check = Callable[[], Awaitable[str | None]]
"""Raises an error that says what is wrong. Otherwise it may return a remark."""

Refresh = Callable[[], Awaitable[None]]
"""Updates metrics that are too expensive to keep up to date all the time."""

CHECK_DEADLINE = 1.0
"""Deadline of each check of /readyz, in seconds."""
BEAT_INTERVAL = 1.0
"""Seconds between heartbeats of the event loop."""
FROZEN_SECONDS = 5.0
"""Seconds without a heartbeat after which the event loop counts as frozen."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check; `ms` is how long it took."""

    ok: bool
    ms: float
    error: str | None = None
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """The answer of /readyz."""

    ready: bool
    status: str
    checks: Mapping[str, CheckResult] = field(default_factory=dict[str, CheckResult])

    def body(self) -> dict[str, Any]:
        """Returns the report as JSON: {status, checks: {name: {ok, ms, error?, remark?}}}."""
        checks = {
            name: {
                "ok": result.ok,
                "ms": result.ms,
                **({"error": result.error} if result.error else {}),
                **({"remark": result.remark} if result.remark else {}),
            }
            for name, result in self.checks.items()
        }
        return {"status": self.status, "checks": checks}


class Health:
    """The state of one service and its checks."""

    def __init__(self, service: str) -> None:
        self.service = service
        self._checks: dict[str, Check] = {}
        self._refreshes: list[Refresh] = []
        self._refreshing: Future[None] | None = None
        self._status = "starting"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._beat = time.monotonic()
        self._task: asyncio.Task[None] | None = None
        self.liveness = Liveness(self._holds)
        """Parts of the service that are stuck: /healthz fails, and the process is restarted."""

    def add_check(self, name: str, check: Check) -> None:
        """Adds a named check, with a deadline of 1 s, that must pass for the service to be ready."""
        self._checks[name] = check

    def before_metrics(self, refresh: Refresh) -> None:
        """Runs `refresh` on the service's loop at each request for /metrics, which waits for it at most 2 s; if it
        takes longer it goes on, for the next request."""
        self._refreshes.append(refresh)

    def started(self) -> None:
        """Starts to watch the event loop; call it first, on the service's loop."""
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._keep_beat())

    def ready(self) -> None:
        """Reports the service as ready: everything is connected and subscribed."""
        self._status = "ready"
        self.liveness.start()

    def draining(self) -> bool:
        """Reports the service as not ready from now on; returns whether it was ready before."""
        previous, self._status = self._status, "draining"
        return previous == "ready"

    async def stop(self) -> None:
        await self.liveness.stop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def silence(self) -> float:
        """Returns the seconds since the last heartbeat of the service's event loop."""
        return time.monotonic() - self._beat

    async def report(self) -> ReadinessReport:
        """Runs all checks concurrently; may be called on any thread's loop."""
        if self._status != "ready" or self._loop is None:
            return ReadinessReport(ready=False, status=self._status)
        if self._loop is asyncio.get_running_loop():
            results = await self._run_checks()
        else:
            future = asyncio.run_coroutine_threadsafe(self._run_checks(), self._loop)
            try:
                results = await asyncio.wait_for(asyncio.wrap_future(future), CHECK_DEADLINE * 2)
            except TimeoutError:
                error = f"the event loop has not turned for {self.silence():.1f} s"
                results = {"loop": CheckResult(ok=False, ms=CHECK_DEADLINE * 2000, error=error)}
        ready = all(result.ok for result in results.values())
        return ReadinessReport(ready=ready, status="ready" if ready else "not ready", checks=results)

    async def _run_checks(self) -> dict[str, CheckResult]:
        names = list(self._checks)
        results = await asyncio.gather(*(_run(self._checks[name]) for name in names))
        for name, result in zip(names, results, strict=True):
            CHECK_HOLDS.labels(name).set(result.ok)
        return dict(zip(names, results, strict=True))

    async def _holds(self, without: Collection[str]) -> bool:
        results = await asyncio.gather(*(_run(check) for name, check in self._checks.items() if name not in without))
        return self._status == "ready" and all(result.ok for result in results)

    async def _keep_beat(self) -> None:
        while True:
            started = time.monotonic()
            await asyncio.sleep(BEAT_INTERVAL)
            self._beat = time.monotonic()
            LOOP_LAG.set(max(self._beat - started - BEAT_INTERVAL, 0))

    async def _refresh(self) -> None:
        if self._status != "ready" or self._loop is None or not self._refreshes:
            return
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.run_coroutine_threadsafe(_all(self._refreshes), self._loop)
        try:
            # Not cancelled: on a loop that is always late no figure would ever become newer.
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._refreshing)), CHECK_DEADLINE * 2)
        except Exception as error:
            log.warning("metrics.not_refreshed", error=str(error) or type(error).__name__)

    def routes(self) -> list[Route]:
        """Returns the three routes, for a service that has its own HTTP server."""

        async def healthz(_: Request) -> Response:
            silence, stuck = self.silence(), self.liveness.stuck
            status = "frozen" if silence >= FROZEN_SECONDS else "stuck" if stuck else "alive"
            body: dict[str, object] = {"status": status, "service": self.service, "loopSilence": round(silence, 3)}
            body["time"] = round(time.time(), 3)
            return JSONResponse(body | ({"stuck": stuck} if stuck else {}), 200 if status == "alive" else 503)

        async def readyz(_: Request) -> Response:
            report = await self.report()
            return JSONResponse(report.body(), status_code=200 if report.ready else 503)

        async def metrics(_: Request) -> Response:
            await self.report()  # for nexus_check_holds
            await self._refresh()
            return Response(generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})

        return [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]


async def _all(refreshes: list[Refresh]) -> None:
    await asyncio.gather(*(refresh() for refresh in refreshes))


async def _run(check: Check) -> CheckResult:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(CHECK_DEADLINE):
            remark = await check()
    except TimeoutError:
        return CheckResult(ok=False, ms=_elapsed_ms(started), error=f"no answer within {CHECK_DEADLINE:g} s")
    except Exception as error:
        return CheckResult(ok=False, ms=_elapsed_ms(started), error=str(error) or type(error).__name__)
    return CheckResult(ok=True, ms=_elapsed_ms(started), remark=remark)


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)


def bus_check(client: Client) -> Check:
    """Returns a check of the bus, which sends itself a message through the server.

    Not nats-py's `rtt` or `flush`: if one of those times out, the late PONG ends the client's read loop for good.
    """
    inbox = ReplyInbox.of(client)

    async def check() -> None:
        NATS_CONNECTED.set(0)
        if not client.is_connected:
            reason = masked_text(str(client.last_error)) if client.last_error else ""
            raise NotReadyError(f"disconnected: {reason}" if reason else "disconnected")
        try:
            with await inbox.expect() as pending:
                await client.publish(pending.reply_to, b"")
                await pending.wait(CHECK_DEADLINE * 0.9)
        except TimeoutError:
            raise NotReadyError(f"connected, but no round trip within {CHECK_DEADLINE * 0.9:g} s") from None
        except NatsError as error:
            raise NotReadyError(str(error)) from error
        NATS_CONNECTED.set(1)

    return check


class HealthServer:
    """Serves a Health on its own port, in its own thread."""

    def __init__(self, health: Health, host: str, port: int) -> None:
        self._wanted = port
        self._host = host
        app = Starlette(routes=health.routes())
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            loop="asyncio",
            date_header=False,
        )
        config.timeout_graceful_shutdown = 1
        self._server = QuietServer(config)
        self._thread = threading.Thread(target=self._serve, name="health", daemon=True)
        self.port = port

    async def start(self) -> None:
        """Starts to listen; sets `port` if it was 0.

        Raises:
            NotReadyError: the port is taken.
        """
        self._thread.start()
        end = time.monotonic() + 10
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > end:
                raise NotReadyError(
                    f"cannot listen on {self._host}:{self._wanted}: is another service there? Choose another port "
                    "(0: any free one)",
                    retryable=True,
                )
            await asyncio.sleep(0.005)
        self.port = int(self._server.servers[0].sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stops listening; waits at most 2 s."""
        self._server.end()
        await asyncio.to_thread(self._thread.join, 2)

    def _serve(self) -> None:
        # uvicorn ends with SystemExit when it cannot bind; start() reports that.
        with suppress(BaseException):
            self._server.run()
