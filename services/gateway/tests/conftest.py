"""A gateway of the test's own over a real NATS server, with memory's stand-in behind it."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Protocol, TypeVar

import aiohttp
import pytest
from nats.aio.client import Client
from pydantic import SecretStr

from contracts.tools_rpc import CATALOGUE, CatalogueReply, CatalogueRequest
from gateway.adapters.identity import IdentityKeys, build_identity
from gateway.testing.desk import DeskStandIn
from gateway.testing.files import FileShareStandIn
from gateway.testing.harness import GatewayUnderTest, MemoryStandIn, run_gateway
from gateway.testing.http import Http
from gateway.testing.knowledge import KnowledgeStandIn
from gateway.testing.records import RecordsStandIn
from gateway.testing.services import CompletionsStandIn, SettingsStandIn, WritersStandIn
from gateway.testing.tokens import TokenMaker
from runtime.calls.rpc import RpcServer
from runtime.clock import SystemClock
from runtime.settings import TokenSettings
from runtime.stores.folder_store import FolderStore
from runtime.testing.servers import NatsServer


class StandIn(Protocol):
    """Answers in the place of a service."""

    async def start(self) -> None: ...


StandInT = TypeVar("StandInT", bound=StandIn)
KEYS = TokenSettings(
    jwt_secret=SecretStr("a secret of these tests alone, 0123456789"),
    principal_key=SecretStr("another secret of these tests, 0123456789"),
)


async def started(stand_in: StandInT) -> StandInT:
    await stand_in.start()
    return stand_in


@pytest.fixture
def keys() -> TokenSettings:
    """The keys of the gateway under test."""
    return KEYS


@pytest.fixture
def tokens() -> TokenMaker:
    """Makes tokens that the gateway under test accepts."""
    return TokenMaker(KEYS)


@pytest.fixture
def identity() -> IdentityKeys:
    """The keys with which the gateway under test checks tokens."""
    return build_identity(KEYS, 3600, SystemClock())


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    """The storage of conversations' files."""
    return FolderStore(tmp_path / "files")


@pytest.fixture
async def gateway(
    nats_server: NatsServer, identity: IdentityKeys, store: FolderStore
) -> AsyncIterator[GatewayUnderTest]:
    """A gateway with its default settings."""
    async with run_gateway(nats_server.url, identity, store=store) as running:
        yield running


@pytest.fixture
async def memory(nats_client: Client) -> AsyncIterator[MemoryStandIn]:
    """Memory's stand-in, which knows the company acme."""
    stand_in = MemoryStandIn(nats_client)
    stand_in.add_company("acme", aiAutoResponseEnabled=True, allowedOrigins=["https://shop.example"])
    await stand_in.start()
    yield stand_in
    await stand_in.stop()


@pytest.fixture
async def http(gateway: GatewayUnderTest) -> AsyncIterator[Http]:
    """Calls the gateway under test over HTTP."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=40)) as session:
        yield Http(gateway.url, session)


@pytest.fixture
async def settings(nats_client: Client, memory: MemoryStandIn) -> SettingsStandIn:
    """Memory's side of companies' settings, over the companies that its stand-in knows."""
    return await started(SettingsStandIn(nats_client, memory.companies))


@pytest.fixture
async def desk(nats_client: Client) -> DeskStandIn:
    """Memory's side of the desk."""
    return await started(DeskStandIn(nats_client))


@pytest.fixture
async def share(nats_client: Client) -> AsyncIterator[FileShareStandIn]:
    """Memory's stand-in for companies' shares of the file storage."""
    stand_in, server = FileShareStandIn(), RpcServer(nats_client)
    await stand_in.serve(server)
    yield stand_in
    await server.drain(1.0)


@pytest.fixture
async def no_tools(nats_client: Client) -> None:
    """A tool executor with an empty catalogue."""

    async def catalogue(_: CatalogueRequest) -> CatalogueReply:
        return CatalogueReply(tools=[])

    await RpcServer(nats_client).serve(CATALOGUE, catalogue)
    await nats_client.flush()


@pytest.fixture
async def writers(nats_client: Client) -> WritersStandIn:
    """The agents' stand-in that helps human agents write."""
    return await started(WritersStandIn(nats_client))


@pytest.fixture
async def records(nats_client: Client) -> RecordsStandIn:
    """The stand-in for users' data in memory and market-adapter."""
    return await started(RecordsStandIn(nats_client))


@pytest.fixture
async def knowledge(nats_client: Client) -> KnowledgeStandIn:
    """Memory's stand-in for companies' knowledge."""
    return await started(KnowledgeStandIn(nats_client))


@pytest.fixture
async def completions(nats_client: Client) -> CompletionsStandIn:
    """The agents' stand-in for completions."""
    return await started(CompletionsStandIn(nats_client))
