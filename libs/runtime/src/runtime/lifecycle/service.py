"""The life cycle of every service: connect, prepare, serve, and end in order.

    service = Service("memory", nats=settings.nats, port=settings.port)

    async def build() -> None:                      # connected, streams exist; nothing is consumed yet
        store = await open_store(...)
        service.on_stop(store.close)
        service.add_check("mongodb", store.ping)
        service.serve(HISTORY, History(store).answer)
        service.add_worker(PullWorker(service.nats, ...))

    service.on_start(build)
    await service.run()

Start: logs → health port → connect → streams → on_start → methods, workers → flush → ready.
End (SIGTERM, SIGINT), within `drain.deadline` seconds: not ready → serves on for `drain.notice` → on_drain → workers
finish or give messages back → methods → on_stop, last first → connection. A process that still runs at its deadline is
killed.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import structlog
from nats.aio.client import Client
from pydantic import BaseModel

from contracts.rpc import Rpc
from contracts.streams import STREAMS, Stream
from runtime.bus.connection import ConnectionHooks, Hook, connect, probe_connection
from runtime.bus.marks import Marks
from runtime.bus.permissions import Permissions
from runtime.bus.publisher import Publisher
from runtime.bus.span_store import SpanStore
from runtime.bus.storage import Storage
from runtime.bus.streams import await_streams, ensure_streams
from runtime.bus.upkeep import Upkeep
from runtime.calls.refusals import Answers
from runtime.calls.rpc import Handler, RpcClient, RpcServer
from runtime.conversation import ConversationLog
from runtime.errors import NotReadyError
from runtime.lifecycle import huge_pages
from runtime.lifecycle.health import Health, HealthServer, bus_check
from runtime.lifecycle.process import freeze_heap
from runtime.lifecycle.shutdown import close, force_end_after, run_hooks, run_within
from runtime.liveness import Store
from runtime.observability import logging as logs
from runtime.observability import telemetry
from runtime.observability.metrics import APPENDS_REFUSED, DEAD_LETTERS, NATS_RECONNECTS, from_zero
from runtime.setting_names import check_names
from runtime.settings import DrainSettings, LogSettings, MarkSettings, NatsSettings, StreamSettings, TraceSettings
from runtime.workers.batch_worker import BatchWorker
from runtime.workers.pull_worker import PullWorker

if TYPE_CHECKING:
    from runtime.observability.otlp import Collector

log = structlog.get_logger(__name__)

OTLP_VARIABLES = frozenset({"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"})

RequestT = TypeVar("RequestT", bound=BaseModel)
ReplyT = TypeVar("ReplyT", bound=BaseModel)


class Service:
    """A service's life cycle. Its bus clients exist once `start` has connected."""

    def __init__(
        self,
        name: str,
        *,
        nats: NatsSettings,
        port: int | None = 0,
        host: str = "127.0.0.1",
        logging: LogSettings | None = None,
        drain: DrainSettings | None = None,
        marks: MarkSettings | None = None,
    ) -> None:
        """`port`: for /healthz, /readyz and /metrics; 0 means any free one; None: the service serves
        `service.health.routes()` itself. `marks`: for services that write or read conversations and journals."""
        self.name = name
        self.health = Health(name)
        self.add_check, self.before_metrics = self.health.add_check, self.health.before_metrics
        self.watch, self.watch_store = self.health.liveness.add, self.health.liveness.add_store
        self.hooks = ConnectionHooks()
        self._permissions = Permissions(nats.user)
        self._nats_settings = nats
        self._log_settings = logging or LogSettings()
        self._drain_settings = drain or DrainSettings()
        self._trace_settings = TraceSettings()
        self._mark_settings = marks
        self.streams = StreamSettings().applied(STREAMS)
        """The streams as configured."""
        stream_names = [stream.name for stream in self.streams]
        from_zero(DEAD_LETTERS, [name], stream_names)
        from_zero(APPENDS_REFUSED, stream_names)
        self._written: tuple[Stream, ...] = ()
        self._health_server = HealthServer(self.health, host, port) if port is not None else None
        self._client: Client | None = None
        self._rpc_server: RpcServer | None = None
        self._methods: list[Callable[[RpcServer], Awaitable[None]]] = []
        self.answers: Answers = lambda _: None
        """The replies for the service's own errors (runtime.calls.rpc)."""
        self._workers: list[PullWorker | BatchWorker] = []
        self._on_start: list[Hook] = []
        self._on_drain: list[Hook] = []
        self._on_stop: list[Hook] = []
        self._stopping = asyncio.Event()
        self._upkeep: Upkeep | None = None
        self._spans: SpanStore | None = None
        self._collector: Collector | None = None

    @property
    def nats(self) -> Client:
        if self._client is None:
            raise NotReadyError(f"{self.name} is not connected yet: use it from an on_start hook")
        return self._client

    @property
    def publisher(self) -> Publisher:
        """Publishes durable and live events."""
        return Publisher(self.nats)

    @property
    def conversation_log(self) -> ConversationLog:
        return ConversationLog(self.nats)

    @property
    def rpc(self) -> RpcClient:
        return RpcClient(self.nats)

    @property
    def port(self) -> int:
        """The health port; 0 if there is none."""
        return self._health_server.port if self._health_server else 0

    def on_start(self, hook: Hook) -> None:
        """Adds a hook that runs once connected, before anything is consumed."""
        self._on_start.append(hook)

    def on_drain(self, hook: Hook) -> None:
        """Adds a hook that runs first when the service ends, for parts that must know immediately (open sockets)."""
        self._on_drain.append(hook)

    def on_stop(self, hook: Hook) -> None:
        """Adds a hook that runs when all work has ended, last added first; for closing clients and stores."""
        self._on_stop.append(hook)

    def on_reconnect(self, hook: Hook) -> None:
        """Adds a hook that runs after each reconnect to the bus; core messages sent meanwhile are lost."""
        self.hooks.on_reconnect.append(hook)

    def writes(self, *streams: Stream) -> None:
        """Declares streams that the service appends to: it is not ready while one of them accepts nothing."""
        self._written += tuple(known for known in self.streams if known.name in {stream.name for stream in streams})

    def add_worker(self, worker: PullWorker | BatchWorker) -> None:
        self._workers.append(worker)
        self.watch(worker.name, worker.stuck_because)

    def serve(self, method: Rpc[RequestT, ReplyT], handler: Handler[RequestT, ReplyT]) -> None:
        self._methods.append(lambda server: server.serve(method, handler))

    async def start(self) -> None:
        """Starts everything, up to ready.

        Raises:
            NotReadyError: the bus, a stream or the port is not available; the message says what to do.
        """
        logs.configure(self.name, self._log_settings)
        self.health.started()
        if self._health_server is not None:
            await self._health_server.start()
            log.info("service.listening", port=self._health_server.port)
        check_names()
        self._client = client = await self._connected()
        await self._record_spans(client)
        marks = Marks.of(client)
        marks.use(self._mark_settings.keys if self._mark_settings is not None else None)
        if self._nats_settings.manage_streams:
            await self._make_streams()
        else:
            await await_streams(client, self.streams)
        await marks.learn()
        for hook in self._on_start:
            await hook()
        self._rpc_server = RpcServer(client, answers=self.answers)
        for register in self._methods:
            await register(self._rpc_server)
        await self._keep_up(client)
        await asyncio.gather(*(worker.start() for worker in self._workers))
        # The subscriptions have been sent, but only a round trip shows that the server has them.
        await client.flush(timeout=10)
        await self._permissions.check()
        self.health.ready()
        log.info("service.ready", port=self.port)

    async def _connected(self) -> Client:
        """Connects to the bus, with everything that watches the connection."""
        self.hooks.on_reconnect.append(_count_reconnect)
        self.hooks.on_error.append(self._permissions.refused)
        self.hooks.on_disconnect.append(self._permissions.forget)
        client = await connect(self._nats_settings, name=self.name, hooks=self.hooks)
        check = bus_check(client)
        self.health.add_check("nats", check)
        self.health.add_check("permissions", self._permissions.check)
        probe = partial(probe_connection, self._nats_settings, name=f"{self.name} looks")
        self.watch_store("nats", Store(lambda: not client.is_connected, check, probe))
        self.health.add_check("storage", lambda: Storage.of(client).check(self._written))
        return client

    async def _keep_up(self, client: Client) -> None:
        self._upkeep = Upkeep(client, self._make_streams if self._nats_settings.manage_streams else None)
        self.hooks.on_reconnect.append(self._upkeep.reconnected)
        await self._upkeep.listen()
        self._upkeep.start()
        self.watch("upkeep", self._upkeep.stuck_because)

    async def _record_spans(self, client: Client) -> None:
        telemetry.sample(self._trace_settings.sample)
        if os.environ.keys() & OTLP_VARIABLES:
            # The SDK is slow to import, and only needed if spans are exported.
            self._collector = importlib.import_module("runtime.observability.otlp").collector(self.name)
        if self._collector is not None:
            telemetry.add_sink(self._collector.take)
        if self._trace_settings.sample > 0:
            self._spans = SpanStore(client, self.name)
            await self._spans.start()
            self.watch("spans", self._spans.stuck_because)
            telemetry.add_sink(self._spans.take)

    async def _stop_spans(self) -> None:
        if self._spans is not None:
            telemetry.remove_sink(self._spans.take)
            await self._spans.stop()
        if self._collector is not None:
            telemetry.remove_sink(self._collector.take)
            await asyncio.to_thread(self._collector.close)

    async def _make_streams(self) -> None:
        await ensure_streams(self.nats, self.streams, replicas=self._nats_settings.replicas)

    async def stop(self) -> None:
        """Ends in order, within the drain deadline; never raises."""
        # The last steps take a moment too, and at the deadline itself the process is killed.
        end = time.monotonic() + self._drain_settings.deadline * 0.95

        def remaining(reserved: float) -> float:
            return max(end - time.monotonic() - reserved, 0.1)

        was_ready = self.health.draining()
        log.info("service.draining", deadline=self._drain_settings.deadline)
        if was_ready:
            await asyncio.sleep(min(self._drain_settings.notice, remaining(2)))
        await run_hooks(self._on_drain, remaining(2))
        if self._upkeep is not None:
            await self._upkeep.stop()
        workers = [worker.drain(remaining(2)) for worker in self._workers]
        await run_within(asyncio.gather(*workers, return_exceptions=True), remaining(1.5))
        if self._rpc_server is not None:
            await run_within(self._rpc_server.drain(remaining(1.5)), remaining(1))
        await run_hooks(list(reversed(self._on_stop)), remaining(0.5))
        await run_within(self._stop_spans(), remaining(0.3))
        if self._client is not None:
            await close(self._client, remaining(0.2))
        await self.health.stop()
        if self._health_server is not None:
            await self._health_server.stop()
        log.info("service.stopped")

    def end(self) -> None:
        """Asks the service to end, as SIGTERM does."""
        self._stopping.set()

    async def run(self) -> None:
        """Starts, serves until SIGTERM, SIGINT or `end`, and stops. A second signal ends the process at once.

        Raises:
            NotReadyError: it could not start.
        """
        loop = asyncio.get_running_loop()

        def on_signal(number: signal.Signals) -> None:
            if self._stopping.is_set():
                os._exit(128 + number)
            log.info("service.signal", signal=number.name)
            force_end_after(self._drain_settings.deadline)
            self.end()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, on_signal, number)
        starting = asyncio.create_task(self.start())
        stopping = asyncio.create_task(self._stopping.wait())
        refused = asyncio.create_task(self._permissions.await_refusal())
        try:
            await asyncio.wait([starting, stopping, refused], return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
                freeze_heap()
                loop.call_later(huge_pages.DELAY_SECONDS, huge_pages.begin)
                await stopping
            else:
                # Repeated, since a wait for a flush that ends at the same moment swallows the cancellation.
                while not starting.done():
                    starting.cancel()
                    await asyncio.wait([starting], timeout=0.2)
                if refused.done():
                    _ = starting.cancelled() or starting.exception()
                    refused.result()
        finally:
            stopping.cancel()
            refused.cancel()
            await self.stop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


async def _count_reconnect() -> None:
    NATS_RECONNECTS.inc()
