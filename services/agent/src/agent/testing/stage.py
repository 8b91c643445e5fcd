"""A stage for the agent's tests: a real bus, a real agent, and small stand-ins for the services that it calls."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg

from agent.app import Agent, AgentConnections
from agent.domain.local_budgets import LocalBudgets
from agent.settings import AgentSettings, ModelSettings
from agent.testing.company import COMPANY, demo_config
from agent.testing.copilot_side import CopilotSide
from agent.testing.executor_side import Executor
from agent.turns.deps import Ports
from contracts import channels
from contracts.channels import ChatKind
from contracts.company import CompanyConfig, CompanySettings
from contracts.company_rpc import COMPANY_GET, CompanyReply, CompanyRequest
from contracts.conversation_rpc import HISTORY, HistoryMessage, HistoryReply, HistoryRequest
from contracts.envelope import CloudEvent
from contracts.events.chat import (
    CancelReason,
    OperatorMessage,
    Owner,
    OwnerChanged,
    OwnerKind,
    Role,
    RunCancelled,
    VisitorMessage,
    Wishes,
)
from contracts.events.fact import CompanyConfigChanged, UsageRecorded
from contracts.events.tool import ToolCallCompleted, ToolCallRequested
from contracts.files import FileRef
from contracts.ids import uuid7
from contracts.knowledge import KnowledgeFound
from contracts.knowledge_rpc import SEARCH, KnowledgeSearch
from contracts.memory_rpc import (
    BUDGET_RESERVE,
    BUDGET_SETTLE,
    BudgetReserveReply,
    BudgetReserveRequest,
    BudgetSettled,
    BudgetSettleRequest,
)
from contracts.tools_rpc import CATALOGUE, CatalogueReply, CatalogueRequest
from runtime.auth.principals import Principal
from runtime.auth.seal import Seal
from runtime.bus.connection import connect, subscribe
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.calls.rpc import RpcServer
from runtime.conversation import ConversationLog, facts_of, fence_at
from runtime.errors import FenceRefusedError, InvalidTokenError, RpcError
from runtime.settings import NatsSettings, SealSettings
from runtime.testing.servers import eventually
from runtime.workers.outcomes import Ack, Outcome, Retry
from runtime.workers.pull_worker import Delivery, PullWorker

LATER = 2**40
"""When the stage's principals expire, in seconds since 1970: never."""
_ROLES = {ChatKind.VISITOR: Role.VISITOR, ChatKind.ASSISTANT: Role.ASSISTANT, ChatKind.OPERATOR: Role.OPERATOR}


def verify(principal: str) -> Principal:
    """Reads an unsigned principal, "role/plan/user"; replaces only the signature check."""
    parts = principal.split("/")
    if len(parts) != 3:
        raise InvalidTokenError("not a principal")
    return Principal(parts[2], parts[0], COMPANY, parts[1], exp=LATER)


class Stage:
    """Everything around the agent. Writes facts as the gateway does."""

    def __init__(self, client: Client, config: CompanyConfig, *, memory: bool = True) -> None:
        """`memory`: whether the stage serves memory's methods too."""
        self.nats = client
        self.config = config
        self._serves_memory = memory
        self.version = 1
        self.executor = Executor()
        self.publisher = Publisher(client)
        self.log = ConversationLog(client)
        self.live: list[tuple[str, dict[str, Any]]] = []
        self.memory_fails = False
        self.budgets = LocalBudgets()
        self.reserved: list[BudgetReserveRequest] = []
        self.settled: list[BudgetSettleRequest] = []
        self.copilot = CopilotSide()
        self.knowledge: KnowledgeFound | None = KnowledgeFound()
        self.memory_runs = asyncio.Event()
        """While this is not set, memory hangs in the middle of a search or of a reservation."""
        self.memory_runs.set()
        self.searched: list[KnowledgeSearch] = []
        self.searches_with_tokens = True
        """Whether a reservation also searches; older versions of memory do not."""
        self.reserves_further = False
        """Whether memory grants further reservations; it does not once half of the company's budget is used."""
        self._heard: dict[tuple[str, str], asyncio.Event] = {}
        self._server = RpcServer(client)
        # Not the executor's short leases: an event loop that a test blocks must not make the worker run a call twice.
        self._worker = PullWorker(
            client, "TOOLS", "tool-executor", [channels.TOOL_REQUESTS], self._run_call, slots=32, ack_wait=30.0
        )

    async def start(self) -> None:
        """Creates the streams, serves memory's and the executor's methods, and subscribes to live events."""
        await ensure_streams(self.nats)
        if self._serves_memory:
            await self._server.serve(COMPANY_GET, self._get_company)
            await self._server.serve(HISTORY, self._get_history)
            await self._server.serve(BUDGET_RESERVE, self._reserve_budget)
            await self._server.serve(BUDGET_SETTLE, self._settle_budget)
        await self._server.serve(SEARCH, self._search_knowledge)
        await self._server.serve(CATALOGUE, self._catalogue)
        await self.copilot.serve(self._server)
        await subscribe(self.nats, "live.turn.>", self._record_live_event)
        await subscribe(self.nats, "usage.recorded.v1.>", self._settle_by_fact)
        await self._worker.start()
        await self.nats.flush()

    async def stop(self) -> None:
        """Stops the stand-ins."""
        await self._worker.drain(1.0)
        await self._server.drain(1.0)

    # ------------------------------------------------------------ people

    async def visitor(
        self,
        conversation: str,
        text: str,
        *,
        principal: str | None = "visitor/free/visitor-1",
        locale: str = "en",
        wishes: Wishes | None = None,
        files: list[FileRef] | None = None,
    ) -> int:
        """Appends a visitor's message and returns its sequence."""
        message = VisitorMessage(
            message_id=uuid7(),
            client_message_id=uuid7(),
            text=text,
            principal=principal,
            locale=locale,
            door="chat",
            wishes=wishes,
            files=files,
        )
        return await self._append(conversation, ChatKind.VISITOR, message, fenced=False)

    async def take(self, conversation: str) -> int:
        """A human agent takes the conversation: a fenced append, retried until it succeeds."""
        owner = OwnerChanged(owner=Owner(kind=OwnerKind.HUMAN, operator_id="op-1"), by="op-1")
        return await self._append(conversation, ChatKind.OWNER, owner, fenced=True)

    async def release(self, conversation: str) -> int:
        """Hands the conversation back to the AI."""
        owner = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="op-1")
        return await self._append(conversation, ChatKind.OWNER, owner, fenced=True)

    async def operator(self, conversation: str, text: str) -> int:
        """Appends a human agent's message."""
        message = OperatorMessage(message_id=uuid7(), text=text, operator_id="op-1")
        return await self._append(conversation, ChatKind.OPERATOR, message, fenced=False)

    async def cancel(self, conversation: str, turn_id: str, basis: int) -> int:
        """The visitor presses Stop."""
        fact = RunCancelled(turn_id=turn_id, basis=basis, by="visitor-1", reason=CancelReason.USER)
        return await self._append(conversation, ChatKind.CANCEL, fact, fenced=True)

    async def configure(self, **changes: Any) -> None:
        """Changes the company's settings and publishes the change."""
        self.config = self.config.model_copy(update=changes)
        self.version += 1
        event = CloudEvent(
            source="/nexus/memory",
            type="company.config.changed.v1",
            data=CompanyConfigChanged(config=self.config, version=self.version),
        )
        subject = channels.fact("company.config.changed.v1", COMPANY, None)
        await self.publisher.append(subject, event, stream="FACTS", msg_id=uuid7())

    async def _append(self, conversation: str, kind: ChatKind, data: Any, *, fenced: bool) -> int:
        event = CloudEvent(source="/nexus/gateway", type=kind.event_type, data=data).to_json()
        subject = channels.chat(COMPANY, conversation, kind)
        msg_id = channels.chat_msg_id(COMPANY, conversation, kind, uuid7())
        while True:
            snapshot = await self.log.snapshot(COMPANY, conversation) if fenced else None
            fence = fence_at(COMPANY, conversation, snapshot.seq) if snapshot else None
            try:
                return (await self.publisher.append(subject, event, stream="CHAT", msg_id=msg_id, fence=fence)).seq
            except FenceRefusedError:
                continue

    # ------------------------------------------------------------ results

    async def facts(self, conversation: str) -> list[tuple[ChatKind, int, dict[str, Any]]]:
        """Returns the conversation's log: kind, sequence and data of each fact."""
        bounds = await self.log.bounds()
        stored = await self.log.read(COMPANY, conversation, 0, bounds.last_seq)
        return [_parse_fact(fact) for fact in stored if facts_of([fact])]

    async def answers(self, conversation: str) -> list[dict[str, Any]]:
        """Returns the assistant's and the system's messages."""
        kinds = (ChatKind.ASSISTANT, ChatKind.SYSTEM)
        return [data for kind, _, data in await self.facts(conversation) if kind in kinds]

    async def answered(self, conversation: str, count: int = 1) -> list[dict[str, Any]]:
        """Waits for at least `count` answers and returns them."""

        async def enough() -> list[dict[str, Any]] | None:
            answers = await self.answers(conversation)
            return answers if len(answers) >= count else None

        return cast("list[dict[str, Any]]", await eventually(enough))

    async def idle(self) -> None:
        """Waits until every turn's trigger is acknowledged."""

        async def is_drained() -> bool:
            info = orjson.loads((await self.nats.request("$JS.API.CONSUMER.INFO.CHAT.agent", b"")).data)
            return info["num_pending"] == 0 and info["num_ack_pending"] == 0

        await eventually(is_drained)

    def told(self, kind: str) -> list[dict[str, Any]]:
        """Returns the data of the live events of a kind, e.g. message.delta."""
        return [data for subject, data in self.live if subject.endswith(f".{kind}.v1")]

    def heard(self, conversation: str, kind: str) -> asyncio.Event:
        """Returns an event that the conversation's first live event of the kind sets, e.g. message.delta."""
        return self._heard.setdefault((conversation, kind), asyncio.Event())

    async def usage(self, count: int) -> list[dict[str, Any]]:
        """Waits for at least `count` usage.recorded facts and returns their data."""
        reader = DirectReader(self.nats, "FACTS")

        async def enough() -> list[dict[str, Any]] | None:
            facts = (await reader.batch("usage.recorded.v1.>", 1, 1000)).facts
            return [orjson.loads(fact.event)["data"] for fact in facts] if len(facts) >= count else None

        return cast("list[dict[str, Any]]", await eventually(enough))

    # ------------------------------------------------------------ stand-ins

    async def _get_company(self, request: CompanyRequest) -> CompanyReply:
        if request.company_id != COMPANY:
            return CompanyReply()
        return CompanyReply(settings=CompanySettings(config=self.config, version=self.version))

    async def _get_history(self, request: HistoryRequest) -> HistoryReply:
        if self.memory_fails:
            raise RpcError("UNAVAILABLE", "no database", retryable=True)
        facts = await self.log.read(request.company_id, request.conversation_id, 0, request.up_to_seq)
        messages = [
            HistoryMessage(
                id=data["messageId"],
                seq=seq,
                role=_ROLES[kind],
                text=data["text"],
                files=data.get("files"),
                created_at=stored.time,
            )
            for stored in facts
            if facts_of([stored])
            for kind, seq, data in [_parse_fact(stored)]
            if kind in _ROLES
        ]
        return HistoryReply(messages=messages[-request.limit :], up_to_seq=request.up_to_seq)

    async def _search_knowledge(self, request: KnowledgeSearch) -> KnowledgeFound:
        self.searched.append(request)
        await self.memory_runs.wait()
        if self.knowledge is None:
            raise RpcError("UNAVAILABLE", "no knowledge")
        return self.knowledge

    async def _reserve_budget(self, request: BudgetReserveRequest) -> BudgetReserveReply:
        self.reserved.append(request)
        spent = self.budgets.reserve(
            request.company_id,
            request.payer,
            request.tier,
            request.tokens,
            request.daily_tokens,
            request.hourly_tokens,
            0,
        )
        await self.memory_runs.wait()
        knowledge = None
        if request.knowledge is not None and self.searches_with_tokens:
            self.searched.append(KnowledgeSearch(company_id=request.company_id, **dict(request.knowledge)))
            knowledge = self.knowledge
        further = (spent is None and self.reserves_further and request.further is not None) or None
        return BudgetReserveReply(
            granted=spent is None, spent=spent, reserved_at=1, knowledge=knowledge, further=further
        )

    async def _settle_budget(self, request: BudgetSettleRequest) -> BudgetSettled:
        self.settled.append(request)
        return BudgetSettled(settled=True)

    async def _settle_by_fact(self, message: Msg) -> None:
        event = CloudEvent[UsageRecorded].model_validate_json(message.data)
        first, usage = event.data.reservation, event.data.usage
        for reservation in (*([first] if first is not None else []), *(event.data.further or ())):
            settlement = BudgetSettleRequest(
                company_id=event.data.company_id,
                reservation_id=reservation.id,
                reserved=reservation.tokens,
                used=usage.prompt_tokens + usage.completion_tokens if reservation is first else 0,
                reserved_at=reservation.at,
                payer=reservation.payer,
                tier=reservation.tier,
            )
            self.settled.append(settlement)

    async def _catalogue(self, request: CatalogueRequest) -> CatalogueReply:
        return CatalogueReply(tools=self.executor.catalogue())

    async def _run_call(self, delivery: Delivery) -> Outcome:
        request = CloudEvent[ToolCallRequested].model_validate_json(delivery.data).data
        result = await self.executor.run(request)
        if result is None:
            return Retry(0.1)
        completed = ToolCallCompleted(
            call_id=request.call_id, tool=request.tool, arguments=request.arguments, result=result
        )
        if request.reply_to:
            event = CloudEvent(source="/nexus/tool-executor", type="tools.call.completed.v1", data=completed)
            await self.nats.publish(request.reply_to, event.to_json())
        return Ack()

    async def _record_live_event(self, message: Msg) -> None:
        self.live.append((message.subject, orjson.loads(message.data)["data"]))
        conversation, kind = message.subject.split(".", 4)[3:]
        self.heard(conversation, kind.removesuffix(".v1")).set()


def _parse_fact(fact: StoredFact) -> tuple[ChatKind, int, dict[str, Any]]:
    address = channels.parse_chat(fact.subject)
    if address is None:
        raise AssertionError(f"not a chat subject: {fact.subject}")
    return address.kind, fact.seq, orjson.loads(fact.event)["data"]


@asynccontextmanager
async def stage(url: str, config: CompanyConfig | None = None) -> AsyncGenerator[Stage]:
    """Sets up a stage on a running nats-server."""
    client = await connect(NatsSettings(url=url), name="stage")
    agent_stage = Stage(client, config or demo_config())
    await agent_stage.start()
    try:
        yield agent_stage
    finally:
        await agent_stage.stop()
        await client.close()


@asynccontextmanager
async def agent(
    url: str,
    model_url: str | None = None,
    *,
    models: ModelSettings | None = None,
    wrap: Callable[[Ports], Ports] | None = None,
    seal: Seal | None = None,
    **settings: Any,
) -> AsyncGenerator[Agent]:
    """Runs an agent in this process, with a connection of its own; without a model URL, the offline assistant."""
    client = await connect(NatsSettings(url=url), name=f"agent-{uuid.uuid4().hex[:4]}")
    # Without provider_keys, keys in a developer's environment would make tests call real providers.
    model_settings = models or ModelSettings(
        base_url=model_url, model="scripted" if model_url else None, provider_keys={}
    )
    connections = AgentConnections(client, verify, model_settings, seal or Seal(SealSettings()), loopback=True)
    running_agent = Agent(connections, AgentSettings(**settings), wrap)
    await running_agent.start()
    try:
        yield running_agent
    finally:
        await running_agent.drain(2.0)
        await client.close()
