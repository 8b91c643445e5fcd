"""Runs one executor process: settings from the environment, health, draining."""

from contracts.preview_rpc import MCP_TOOLS, OWN_TOOL_TRY, SITE_CHECK
from contracts.streams import FACTS
from contracts.tools_rpc import (
    CATALOGUE,
    COMPANY_FORGET,
    FILE_PIECE,
    FILE_TEXT,
    OWN_ACTION_DECIDE,
    OWN_ACTIONS_GET,
    OWN_ACTIONS_PENDING,
    TOOL_DETAILS,
    USER_FORGET,
)
from runtime.auth.principals import PrincipalVerifier
from runtime.clock import SystemClock
from runtime.errors import NotReadyError
from runtime.lifecycle.service import Service
from runtime.liveness import Store
from runtime.settings import (
    DevSettings,
    DrainSettings,
    FileSettings,
    LogSettings,
    NatsSettings,
    RedisSettings,
    TokenSettings,
)
from runtime.stores.file_stores import file_store
from tool_executor.adapters.user_keys import UserKeys
from tool_executor.app import Executor, ExecutorConnections
from tool_executor.catalogue.registry import CatalogueError
from tool_executor.domain.site_address import AddressRefusedError, Origin, parse_demo_origin
from tool_executor.file_texts import FileTexts
from tool_executor.settings import ExecutorSettings
from tool_executor.site_checks import SiteChecks


async def serve() -> None:
    """Runs the service until SIGTERM; raises NotReadyError if it cannot start."""
    settings, dev, redis = ExecutorSettings(), DevSettings(), RedisSettings()
    service = Service(
        "tool-executor",
        nats=NatsSettings(),
        port=settings.port,
        host=dev.bind_host,
        logging=LogSettings(),
        drain=DrainSettings(),
    )
    service.writes(FACTS)

    async def build() -> None:
        verifier = PrincipalVerifier(TokenSettings())
        connections = ExecutorConnections(
            service.nats, redis.url, redis.deadline, verifier.verify, demo_origin(dev), dev.dev
        )
        try:
            executor = Executor(connections, settings)
        except CatalogueError as error:
            raise NotReadyError(str(error)) from error
        service.on_stop(executor.close)
        service.on_reconnect(executor.reconnected)
        store = executor.store
        service.add_check("redis", store.ping)
        service.watch_store("redis", Store(lambda: store.away, store.ping, store.ping_afresh))
        service.add_check("settings", executor.settings.check)
        service.add_check("principals", verifier.check)
        service.serve(CATALOGUE, executor.catalogue)
        service.serve(TOOL_DETAILS, executor.details)
        files = file_store(FileSettings(), SystemClock())
        if files is not None:
            service.on_stop(files.close)
        texts = FileTexts(files, executor.extraction)
        service.serve(FILE_TEXT, texts.read)
        service.serve(FILE_PIECE, texts.piece)
        service.serve(SITE_CHECK, SiteChecks(connections.demo, loopback=dev.dev).check)
        service.serve(OWN_ACTION_DECIDE, executor.own_actions.decide)
        service.serve(OWN_ACTIONS_PENDING, executor.own_actions.pending)
        service.serve(OWN_ACTIONS_GET, executor.own_actions.states)
        service.serve(OWN_TOOL_TRY, executor.own_checks.call)
        service.serve(MCP_TOOLS, executor.own_checks.server_tools)
        keys = UserKeys(executor.store)
        service.serve(USER_FORGET, keys.forget)
        service.serve(COMPANY_FORGET, keys.forget_company)
        service.before_metrics(executor.waiting.refresh)
        service.add_worker(executor.worker)
        for worker in executor.reading:
            service.add_worker(worker)
        await executor.start()

    service.on_start(build)
    await service.run()


def demo_origin(dev: DevSettings) -> Origin | None:
    """Returns the demo site's origin, only in development. Raises NotReadyError if it is not on loopback."""
    if not dev.dev or not dev.demo_origin:
        return None
    try:
        return parse_demo_origin(dev.demo_origin)
    except AddressRefusedError as refused:
        raise NotReadyError(f"NEXUS_DEMO_ORIGIN: {refused}") from refused
