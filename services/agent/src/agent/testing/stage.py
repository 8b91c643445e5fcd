"""A stage for the agent's tests: a real bus, a real agent, and small stand-ins for the services it asks."""

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
"""When the principals of the stage expire."""
_ROLES = {ChatKind.VISITOR: Role.VISITOR, ChatKind.ASSISTANT: Role.ASSISTANT, ChatKind.OPERATOR: Role.OPERATOR}


def verify(principal: str) -> Principal:
    """Stands in for the signature check alone: "role/plan/user"."""
    parts = principal.split("/")
    if len(parts) != 3:
        raise InvalidTokenError("not a principal")
    return Principal(parts[2], parts[0], COMPANY, parts[1], exp=LATER)


class Stage:
    """Everything around the agent. Facts are written as the gateway writes them."""

    def __init__(self, client: Client, config: CompanyConfig, *, memory: bool = True) -> None:
        """`memory`: it plays memory too."""
        self.nats = client
        self.config = config
        self._plays_memory = memory
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
        """Not set: memory stands still in the middle of a search, or of a reservation with one."""
        self.memory_runs.set()
        self.searched: list[KnowledgeSearch] = []
        self.searches_with_tokens = True
        """An older memory does not."""
        self.reserves_further = False
        """Nor does one whose company's budget is half used."""
        self._heard: dict[tuple[str, str], asyncio.Event] = {}
        self._server = RpcServer(client)
        # It has no leases of its own: a loop that stands still in a test must not make it run a call twice.
        self._worker = PullWorker(
            client, "TOOLS", "tool-executor", [channels.TOOL_REQUESTS], self._call, slots=32, ack_wait=30.0
        )

    async def start(self) -> None:
        """Streams, memory's and the executor's methods, a listener to live events."""
        await ensure_streams(self.nats)
        if self._plays_memory:
            await self._server.serve(COMPANY_GET, self._company)
            await self._server.serve(HISTORY, self._history)
            await self._server.serve(BUDGET_RESERVE, self._reserve)
            await self._server.serve(BUDGET_SETTLE, self._settle)
        await self._server.serve(SEARCH, self._search)
        await self._server.serve(CATALOGUE, self._catalogue)
        await self.copilot.serve(self._server)
        await subscribe(self.nats, "live.turn.>", self._live)
        await subscribe(self.nats, "usage.recorded.v1.>", self._settle_by_fact)
        await self._worker.start()
        await self.nats.flush()

    async def stop(self) -> None:
        """Ends the stand-ins."""
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
        """A visitor writes; the sequence."""
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
        """A human agent takes the conversation, fenced and retried as the rules demand."""
        owner = OwnerChanged(owner=Owner(kind=OwnerKind.HUMAN, operator_id="op-1"), by="op-1")
        return await self._append(conversation, ChatKind.OWNER, owner, fenced=True)

    async def release(self, conversation: str) -> int:
        """The conversation goes back to the AI."""
        owner = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by="op-1")
        return await self._append(conversation, ChatKind.OWNER, owner, fenced=True)

    async def operator(self, conversation: str, text: str) -> int:
        """A human agent writes."""
        message = OperatorMessage(message_id=uuid7(), text=text, operator_id="op-1")
        return await self._append(conversation, ChatKind.OPERATOR, message, fenced=False)

    async def cancel(self, conversation: str, turn_id: str, basis: int) -> int:
        """The visitor presses Stop."""
        fact = RunCancelled(turn_id=turn_id, basis=basis, by="visitor-1", reason=CancelReason.USER)
        return await self._append(conversation, ChatKind.CANCEL, fact, fenced=True)

    async def configure(self, **changes: Any) -> None:
        """The company's settings change, for everybody."""
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
            newest = await self.log.snapshot(COMPANY, conversation) if fenced else None
            fence = fence_at(COMPANY, conversation, newest.seq) if newest else None
            try:
                return (await self.publisher.append(subject, event, stream="CHAT", msg_id=msg_id, fence=fence)).seq
            except FenceRefusedError:
                continue

    # ------------------------------------------------------------ what came of it

    async def facts(self, conversation: str) -> list[tuple[ChatKind, int, dict[str, Any]]]:
        """The conversation's log: kind, sequence, data."""
        bounds = await self.log.bounds()
        stored = await self.log.read(COMPANY, conversation, 0, bounds.last_seq)
        return [_opened(fact) for fact in stored if facts_of([fact])]

    async def answers(self, conversation: str) -> list[dict[str, Any]]:
        """The assistant's and the system's messages."""
        kinds = (ChatKind.ASSISTANT, ChatKind.SYSTEM)
        return [data for kind, _, data in await self.facts(conversation) if kind in kinds]

    async def answered(self, conversation: str, count: int = 1, deadline: float = 20.0) -> list[dict[str, Any]]:
        """Waits for so many answers."""

        async def enough() -> list[dict[str, Any]] | None:
            found = await self.answers(conversation)
            return found if len(found) >= count else None

        return cast("list[dict[str, Any]]", await eventually(enough, deadline))

    async def idle(self, deadline: float = 20.0) -> None:
        """Waits until every turn's trigger is acknowledged."""

        async def nothing_left() -> bool:
            info = orjson.loads((await self.nats.request("$JS.API.CONSUMER.INFO.CHAT.agent", b"")).data)
            return info["num_pending"] == 0 and info["num_ack_pending"] == 0

        await eventually(nothing_left, deadline)

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The data of the live events of a kind, e.g. message.delta."""
        return [data for subject, data in self.live if subject.endswith(f".{kind}.v1")]

    def heard(self, conversation: str, kind: str) -> asyncio.Event:
        """Set by the conversation's first live event of the kind, e.g. message.delta."""
        return self._heard.setdefault((conversation, kind), asyncio.Event())

    async def usage(self, count: int, deadline: float = 20.0) -> list[dict[str, Any]]:
        """Waits for so many usage.recorded facts; their data."""
        reader = DirectReader(self.nats, "FACTS")

        async def enough() -> list[dict[str, Any]] | None:
            facts = (await reader.batch("usage.recorded.v1.>", 1, 1000)).facts
            return [orjson.loads(fact.event)["data"] for fact in facts] if len(facts) >= count else None

        return cast("list[dict[str, Any]]", await eventually(enough, deadline))

    # ------------------------------------------------------------ stand-ins

    async def _company(self, request: CompanyRequest) -> CompanyReply:
        if request.company_id != COMPANY:
            return CompanyReply()
        return CompanyReply(settings=CompanySettings(config=self.config, version=self.version))

    async def _history(self, request: HistoryRequest) -> HistoryReply:
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
            for kind, seq, data in [_opened(stored)]
            if kind in _ROLES
        ]
        return HistoryReply(messages=messages[-request.limit :], up_to_seq=request.up_to_seq)

    async def _search(self, request: KnowledgeSearch) -> KnowledgeFound:
        self.searched.append(request)
        await self.memory_runs.wait()
        if self.knowledge is None:
            raise RpcError("UNAVAILABLE", "no knowledge")
        return self.knowledge

    async def _reserve(self, request: BudgetReserveRequest) -> BudgetReserveReply:
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
        found = None
        if request.knowledge is not None and self.searches_with_tokens:
            self.searched.append(KnowledgeSearch(company_id=request.company_id, **dict(request.knowledge)))
            found = self.knowledge
        further = (spent is None and self.reserves_further and request.further is not None) or None
        return BudgetReserveReply(granted=spent is None, spent=spent, reserved_at=1, knowledge=found, further=further)

    async def _settle(self, request: BudgetSettleRequest) -> BudgetSettled:
        self.settled.append(request)
        return BudgetSettled(settled=True)

    async def _settle_by_fact(self, message: Msg) -> None:
        event = CloudEvent[UsageRecorded].model_validate_json(message.data)
        first, usage = event.data.reservation, event.data.usage
        for held in (*([first] if first is not None else []), *(event.data.further or ())):
            settlement = BudgetSettleRequest(
                company_id=event.data.company_id,
                reservation_id=held.id,
                reserved=held.tokens,
                used=usage.prompt_tokens + usage.completion_tokens if held is first else 0,
                reserved_at=held.at,
                payer=held.payer,
                tier=held.tier,
            )
            self.settled.append(settlement)

    async def _catalogue(self, request: CatalogueRequest) -> CatalogueReply:
        del request
        return CatalogueReply(tools=self.executor.catalogue())

    async def _call(self, delivery: Delivery) -> Outcome:
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

    async def _live(self, message: Msg) -> None:
        self.live.append((message.subject, orjson.loads(message.data)["data"]))
        conversation, kind = message.subject.split(".", 4)[3:]
        self.heard(conversation, kind.removesuffix(".v1")).set()


def _opened(fact: StoredFact) -> tuple[ChatKind, int, dict[str, Any]]:
    address = channels.parse_chat(fact.subject)
    if address is None:
        raise AssertionError(f"not a chat subject: {fact.subject}")
    return address.kind, fact.seq, orjson.loads(fact.event)["data"]


@asynccontextmanager
async def stage(url: str, config: CompanyConfig | None = None) -> AsyncGenerator[Stage]:
    """A stage on a running nats-server."""
    client = await connect(NatsSettings(url=url), name="stage")
    setting = Stage(client, config or demo_config())
    await setting.start()
    try:
        yield setting
    finally:
        await setting.stop()
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
    """An agent in this process, with a connection of its own. No model URL: the offline assistant."""
    client = await connect(NatsSettings(url=url), name=f"agent-{uuid.uuid4().hex[:4]}")
    # Keys that a developer has in the environment must not make tests call anybody.
    chosen = models or ModelSettings(base_url=model_url, model="scripted" if model_url else None, provider_keys={})
    connections = AgentConnections(client, verify, chosen, seal or Seal(SealSettings()), loopback=True)
    running = Agent(connections, AgentSettings(**settings), wrap)
    await running.start()
    try:
        yield running
    finally:
        await running.drain(2.0)
        await client.close()
