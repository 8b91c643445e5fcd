"""For tests: replicas of memory on real servers, and a writer of conversations into the log."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from nats.aio.client import Client
from pydantic import BaseModel, SecretStr

from contracts import market_rpc, tools_rpc
from contracts.channels import ChatKind, chat, chat_msg_id
from contracts.company_rpc import CompanyRequest
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    AssistantMessage,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    Page,
    RunCancelled,
    SystemMessage,
    VisitorMessage,
)
from contracts.files import FileRef
from contracts.ids import answer_id, derive_id, turn_id, uuid7
from contracts.market_rpc import ForgottenReply
from contracts.memory_rpc import UserRef
from contracts.rpc import Rpc
from contracts.streams import CHAT
from memory.adapters.signed_principals import PrincipalCheck
from memory.app import MemoryReplica
from memory.settings import MemorySettings
from runtime.auth.principals import PrincipalSigner, PrincipalVerifier
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import ReplyT, RequestT, RpcClient, RpcServer
from runtime.clock import Clock
from runtime.lifecycle.service import Service
from runtime.settings import DevSettings, DrainSettings, MongoSettings, NatsSettings, RedisSettings, TokenSettings

KEY = "a key for tests, of 32 characters or more"
TOKENS = TokenSettings(principal_key=SecretStr(KEY))


@dataclass(frozen=True, slots=True)
class Servers:
    """The addresses of the real servers."""

    nats: str
    mongo: str
    database: str
    redis: str


@dataclass(frozen=True, slots=True)
class Replica:
    """A running replica, a connection of the test's own, and calls over it."""

    service: Service
    client: Client
    rpc: "PatientClient"


class PatientClient(RpcClient):
    """Waits longer than a caller with a waiting user: a busy machine is no failure."""

    async def call(
        self, method: Rpc[RequestT, ReplyT], request: RequestT, *, deadline: float = 40.0, retries: int = 1
    ) -> ReplyT:
        return await super().call(method, request, deadline=deadline, retries=retries)


@asynccontextmanager
async def replica(
    servers: Servers, *, dev: DevSettings | None = None, clock: Clock | None = None, **settings: Any
) -> AsyncGenerator[Replica]:
    """Runs one replica of memory for the length of the block; `settings` are MemorySettings by field name."""
    caller = await connect(NatsSettings(url=servers.nats), name="test")
    service = Service("memory", nats=NatsSettings(url=servers.nats), drain=DrainSettings(deadline=5))
    MemoryReplica(
        service,
        principals=PrincipalCheck(PrincipalVerifier(TOKENS)),
        mongo_settings=MongoSettings(url=servers.mongo, database=servers.database),
        redis_settings=RedisSettings(url=servers.redis),
        settings=MemorySettings.model_validate({"history_deadline": 15.0, "positions_sweep": 2.0} | settings),
        dev=dev or DevSettings(dev=False),
        clock=clock,
    )
    try:
        await service.start()
        yield Replica(service, caller, PatientClient(caller))
    finally:
        await service.stop()
        await caller.close()


async def serve_deletions(client: Client) -> list[str]:
    """Plays the market-adapter and the tool-executor, which delete users too; returns a list of the deletions that they
    are asked for."""
    requests: list[str] = []

    async def forget_market(request: UserRef) -> ForgottenReply:
        requests.append(f"market {request.company_id}/{request.user_id}")
        return ForgottenReply(deleted=1)

    async def forget_tools(request: UserRef) -> ForgottenReply:
        requests.append(f"tools {request.company_id}/{request.user_id}")
        return ForgottenReply(deleted=1)

    async def forget_company(request: CompanyRequest) -> ForgottenReply:
        requests.append(f"company {request.company_id}")
        return ForgottenReply(deleted=2 if len(requests) <= 2 else 0)

    server = RpcServer(client)
    await server.serve(market_rpc.COMPANY_FORGET, forget_company)
    await server.serve(tools_rpc.COMPANY_FORGET, forget_company)
    await server.serve(market_rpc.USER_FORGET, forget_market)
    await server.serve(tools_rpc.USER_FORGET, forget_tools)
    await client.flush()
    return requests


class Writer:
    """Writes facts of one conversation, as the gateway and the agent do; every method returns the fact's sequence."""

    def __init__(self, client: Client, company: str = "acme", conversation: str | None = None) -> None:
        self._publisher = Publisher(client)
        self.signer = PrincipalSigner(TOKENS)
        self.company = company
        self.conversation = conversation or uuid7()

    async def visitor(
        self,
        text: str,
        *,
        user: str | None = "v1",
        page: str | None = None,
        client_message_id: str | None = None,
        locale: str | None = None,
        role: str = "visitor",
        files: list[FileRef] | None = None,
        named: str | None = None,
    ) -> int:
        """Writes a visitor message."""
        name = client_message_id or uuid7()
        identity = derive_id(self.company, self.conversation, "visitor", name)
        data = VisitorMessage(
            message_id=identity,
            client_message_id=name,
            text=text,
            principal=self.signer.issue(sub=user, role=role, company=self.company) if user else None,
            page=Page(url=page) if page else None,
            locale=locale,
            files=files,
            name=named,
        )
        return await self.put(ChatKind.VISITOR, data, identity)

    async def assistant(self, text: str, basis: int) -> int:
        """Writes an answer to the visitor message at `basis`."""
        turn = turn_id(self.company, self.conversation, basis)
        data = AssistantMessage(
            message_id=answer_id(turn), turn_id=turn, basis=basis, text=text, model="test", config_version=1
        )
        return await self.put(ChatKind.ASSISTANT, data, answer_id(turn))

    async def operator(self, text: str, operator: str = "op1") -> int:
        """Writes a human agent's message."""
        identity = uuid7()
        data = OperatorMessage(message_id=identity, text=text, operator_id=operator, name="Ana")
        return await self.put(ChatKind.OPERATOR, data, identity)

    async def system(self, code: str, basis: int = 0) -> int:
        """Writes a notice."""
        identity = uuid7()
        return await self.put(
            ChatKind.SYSTEM, SystemMessage(message_id=identity, text=code, code=code, basis=basis), identity
        )

    async def owner(self, kind: OwnerKind, operator: str | None = None) -> int:
        """Changes the owner."""
        data = OwnerChanged(owner=Owner(kind=kind, operator_id=operator), by=operator or "v1")
        return await self.put(ChatKind.OWNER, data, uuid7())

    async def cancelled(self, basis: int) -> int:
        """Writes that the visitor stopped a turn."""
        turn = turn_id(self.company, self.conversation, basis)
        return await self.put(ChatKind.CANCEL, RunCancelled(turn_id=turn, basis=basis, by="v1"), uuid7())

    async def put(self, kind: ChatKind, data: BaseModel, identity: str, *, msg_id: str | None = None) -> int:
        """Writes any fact; a `msg_id` other than the usual one stores a copy that the bus does not recognise."""
        event = CloudEvent(id=identity, source="/test", type=kind.event_type, data=data)
        stored = await self._publisher.append(
            chat(self.company, self.conversation, kind),
            event,
            stream=CHAT.name,
            msg_id=msg_id or chat_msg_id(self.company, self.conversation, kind, identity),
        )
        return stored.seq
