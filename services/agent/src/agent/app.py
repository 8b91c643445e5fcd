"""The composition root: builds the agent from its settings, once."""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.request import getproxies_environment

import aiohttp
import structlog
from nats.aio.client import Client

from agent.adapters.analysis_facts import SOURCE, AnalysisFacts
from agent.adapters.budgets import MemoryBudgets
from agent.adapters.catalogue import ExecutorCatalogue
from agent.adapters.chat_log import JetStreamChatLog
from agent.adapters.client_calls import ClientCalls
from agent.adapters.companies import AgentCompanies
from agent.adapters.drivers import AgentDrivers
from agent.adapters.encodings import Encodings
from agent.adapters.failed_turns import FailedTurnList
from agent.adapters.failures import FailureReports
from agent.adapters.file_texts import ExecutorFiles
from agent.adapters.followed import FollowedConversations
from agent.adapters.forgotten import drop_forgotten
from agent.adapters.hand_offs import EndedTurns, HandOffs
from agent.adapters.histories import HistoryClient
from agent.adapters.journal_store import JournalStore
from agent.adapters.json_schemas import JsonSchemas
from agent.adapters.live import LiveEvents
from agent.adapters.log_position import NewestFacts
from agent.adapters.market_state import MarketState
from agent.adapters.memory import MemoryClient
from agent.adapters.model_router import configured_router
from agent.adapters.own_calls import BusOwnCalls
from agent.adapters.own_models import OwnModels
from agent.adapters.price_table import prices
from agent.adapters.requesters import prover
from agent.adapters.tool_calls import ToolRequests
from agent.adapters.tool_details import ExecutorTools
from agent.adapters.turn_records import TurnRecords
from agent.adapters.usage_facts import UsageBook
from agent.analysis.analyst import Analyst
from agent.analysis.deps import AnalysisLimits, AnalysisPorts
from agent.analysis.in_chat import AnalysisCalls
from agent.assist.deps import HelpPorts
from agent.completion_methods import CompletionMethods
from agent.completions.completion import Completions
from agent.domain.context.compression import TokenWindow
from agent.handlers import AnalysisHandler, LiveFacts, TurnHandler
from agent.help_methods import HelpMethods
from agent.llm.fallback import OUTCOMES
from agent.llm.paid_calls import Spending
from agent.metrics import MODEL_SECONDS, OLDEST_DUE, TURNS_DUE, TURNS_RUNNING
from agent.ports import ConversationKey, ToolCalls
from agent.preview.preview import Preview
from agent.preview_methods import PreviewMethods
from agent.record.explanation import Explanations
from agent.record.turn_archive import TurnArchive
from agent.replay.on_request import ReplayModels, RequestedReplays
from agent.rpc_errors import rpc_error
from agent.settings import AgentSettings, ModelSettings
from agent.turns.after_turn import SmallModel
from agent.turns.deps import Limits, Ports
from agent.turns.engine import TurnEngine
from agent.turns.proposer import Proposer
from agent.turns.summaries import Summarizer
from agent.turns.sweep import TurnSweep
from agent.turns.watches import Watches
from contracts.agent_rpc import TURN_STATE, TurnState, TurnStateRequest
from contracts.channels import ANALYSIS_REQUESTS, CHAT_ALL, LIVE_CHAT_ALL, TURN_TRIGGERS, ChatKind, parse_chat
from contracts.company import CompanySettings
from contracts.streams import CHAT, FACTS, TURNS
from runtime.analyses import Analyses
from runtime.auth.principals import Verify
from runtime.auth.seal import Seal
from runtime.bus.clock import JetStreamClock
from runtime.bus.connection import listen, subscribe
from runtime.bus.direct import DirectReader
from runtime.bus.jetstream_api import ConsumerInfo, ask, floor_of
from runtime.bus.marks import Marks
from runtime.bus.publisher import Publisher
from runtime.bus.replies import ReplyInbox
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.calls.streamed_calls import StreamServer
from runtime.client_results import ClientResults
from runtime.companies import CHANGES, CompanyCache
from runtime.conversation import ConversationLog, ConversationWriter, facts_of
from runtime.deletions import follow_deletions
from runtime.observability.metrics import from_zero
from runtime.settings import SealSettings
from runtime.workers.backlog import Backlog
from runtime.workers.dead_letters import DeadLetters
from runtime.workers.pull_worker import PullWorker

log = structlog.get_logger(__name__)

DURABLE = "agent"
ANALYSES_DURABLE = "agent-analysis"
ANALYSIS_SLOTS = 32
"""Analyses running at once."""
TOOLS_CHANGED = ("tools.announced.v1.>", "tools.withdrawn.v1.>")
MAX_STARTING = 16
"""Turns at once that have neither asked a model nor called a tool yet (decision 0222)."""
MAX_DEADLINES = 3
"""Number of turn deadlines after which a handler is cancelled. It is more than one, because one handler may drive
several turns in a row when messages keep coming."""
SWEPT_SEQUENCES = 20_000
"""Sequences before and after the turn consumer's floor that the sweep reads at its start. They are counted from the
floor, not from the log's end, which may be far away after a night without agents; later messages are delivered."""
FACTS_PER_READ = 500
"""Facts read in one request."""
MAX_MODEL_CONNECTIONS = 1000
"""HTTP connections to model servers at once."""


@dataclass(frozen=True)
class AgentConnections:
    """The agent's connections. `verify` checks principals."""

    nats: Client
    verify: Verify
    models: ModelSettings = field(default_factory=ModelSettings)
    seal: Seal = field(default_factory=lambda: Seal(SealSettings()))
    loopback: bool = False
    """Whether a company's own model may be on this machine."""


class Agent:
    """All parts of one agent process. Build it inside the running loop."""

    def __init__(
        self, connections: AgentConnections, settings: AgentSettings, wrap: Callable[[Ports], Ports] | None = None
    ) -> None:
        """`wrap`: wraps the ports; tests use it to let agents die in the middle of a step."""
        nats = connections.nats
        publisher, rpc = self._publisher, self._rpc = Publisher(nats), RpcClient(nats)
        self._nats = nats
        self._session = _session()
        self._chat, self._messages = ConversationLog(nats), DirectReader(nats, CHAT.name)
        self.settings = CompanyCache(nats, rpc)
        self.companies = AgentCompanies(self.settings)
        self._catalogue = ExecutorCatalogue(rpc)
        self._clock = JetStreamClock(ReplyInbox.of(nats), CHAT.name)
        self._live = LiveEvents(publisher)
        self._watches = Watches()
        self._followed = FollowedConversations()
        self._encodings = Encodings()
        self.models = configured_router(connections.models, self._session)
        self._own_models = OwnModels(
            self.models, connections.models, self._session, connections.seal, loopback=connections.loopback
        )
        self.models.own = self._own_models.for_company
        budgets = MemoryBudgets(rpc, nats)
        self._usage = UsageBook(publisher, prices(), budgets.settle)
        self._records = TurnRecords(publisher)
        spending = Spending(budgets, self._usage)
        self._memory, small_model = MemoryClient(rpc), SmallModel(self.models, spending)
        self._summaries = Summarizer(self._memory, self._encodings, small_model)
        self._proposer = Proposer(self._memory, small_model, self.companies)
        self._instance = uuid.uuid4().hex[:12]
        executor = ToolRequests(publisher, ReplyInbox.of(nats), self._instance, self._catalogue.served)
        analyses = Analyses(nats, SOURCE)
        self._histories = HistoryClient(rpc, self._chat, self._followed)
        ports = self._turn_ports(connections, executor, analyses, spending)
        limits = _limits(settings, connections.models)
        self.engine = TurnEngine(wrap(ports) if wrap else ports, self._watches, limits, lambda: self.worker.stalled_at)
        self.settings.on_change(self._company_changed)
        handler = TurnHandler(self.engine, self._followed)
        self.worker = _turn_worker(nats, handler, settings, lambda company: self.sweep.others_wait(company))
        self.analysis_ports = AnalysisPorts(
            store=analyses,
            outcomes=AnalysisFacts(publisher),
            tools=ExecutorTools(rpc),
            market=MarketState(rpc),
            calls=executor,
            schemas=JsonSchemas(),
            companies=self.companies,
            models=self.models,
            spending=spending,
            clock=self._clock,
            verify=connections.verify,
        )
        self.analyses = _analysis_worker(nats, self.analysis_ports, settings)
        self.workers = (self.worker, self.analyses)
        self._server, self._streams = RpcServer(nats, answers=rpc_error), StreamServer(nats, answers=rpc_error)
        self._methods = self._methods_for(ports, connections, limits)
        self.sweep = TurnSweep(
            self.engine.handle,
            interval=settings.sweep_seconds,
            overdue_after=settings.sweep_after_seconds,
            before_look=self._clock.synchronise,
            has_room=lambda: self.worker.room > 0 and not self.worker.postponed,
        )
        self.waiting = Backlog(self.worker, TURNS_DUE, OLDEST_DUE, known=lambda: self.sweep.count)
        TURNS_RUNNING.set_function(lambda: self.engine.driven)

    def _turn_ports(
        self, connections: AgentConnections, executor: ToolCalls, analyses: Analyses, spending: Spending
    ) -> Ports:
        nats = self._nats
        writer = ConversationWriter(self._chat, self._publisher, SOURCE)
        hand_offs = HandOffs(writer, self._histories, self.companies, self._clock)
        return Ports(
            chat=JetStreamChatLog(self._chat, writer, connections.verify, self._followed),
            journals=JournalStore(
                DirectReader(nats, TURNS.name), self._publisher, self._instance, self._followed.last_ended_turn
            ),
            histories=self._histories,
            companies=self.companies,
            catalogue=self._catalogue,
            tools=ClientCalls(
                AnalysisCalls(executor, analyses, self.companies, self.models), ClientResults(nats, SOURCE)
            ),
            drivers=AgentDrivers(self._rpc, self._driven_here),
            live=self._live,
            failures=EndedTurns(FailureReports(self._publisher, DeadLetters(nats), self._chat), hand_offs),
            models=self.models,
            clock=self._clock,
            spending=spending,
            record=self._records.record,
            contexts=self._memory,
            knowledge=self._memory,
            files=ExecutorFiles(self._rpc),
            encoders=self._encodings,
            own=BusOwnCalls(self._rpc, hand_offs),
            summaries=self._summaries,
            proposals=self._proposer,
        )

    def _methods_for(
        self, ports: Ports, connections: AgentConnections, limits: Limits
    ) -> tuple[HelpMethods, CompletionMethods, PreviewMethods]:
        """Returns the methods that other services call, besides the state of turns."""
        prove, archive = prover(connections.verify), TurnArchive(self._nats)
        replay_models = ReplayModels(self.models, self.models.listed, connections.models, self._session)
        help_ports = HelpPorts(ports.companies, ports.histories, NewestFacts(self._chat), self.models, ports.spending)
        return (
            HelpMethods(help_ports, self.models.listed),
            CompletionMethods(Completions(ports, prove, limits), self._streams),
            PreviewMethods(
                Preview(ports, prove, limits),
                Explanations(archive, prices()),
                RequestedReplays(archive, self._catalogue, replay_models, ports.spending),
                FailedTurnList(self._nats),
            ),
        )

    async def start(self) -> None:
        """Starts all subscriptions, then the workers."""
        self._encodings.begin()
        await subscribe(self._nats, CHANGES, self.settings.changed)
        for subject in TOOLS_CHANGED:
            await subscribe(self._nats, subject, self._catalogue.changed)
        live = LiveFacts(Marks.of(self._nats), self._watches, self.sweep, self._followed)
        drop = partial(drop_forgotten, self._histories, self._followed, self.engine.deleted)
        await follow_deletions(self._nats, drop)
        await listen(self._nats, LIVE_CHAT_ALL, live.take)
        await self._server.serve(TURN_STATE, self._turn_state)
        for methods in (*self._methods, self._proposer):
            await methods.serve(self._server)
        await self._clock.synchronise()
        await self._nats.flush(timeout=10)
        await self.worker.start()
        await self.waiting.start()
        await self.analyses.start()
        self.sweep.start(self._read_log_around_floor)
        from_zero(MODEL_SECONDS, self.models.names, OUTCOMES)
        log.info("agent.started", providers=self.models.names)

    async def reconnected(self) -> None:
        """Refreshes everything that core subscriptions keep current; their messages were lost while disconnected."""
        self.settings.missed()
        self._followed.clear()
        self.sweep.missed()
        await self._catalogue.changed()
        await self._clock.synchronise()

    async def drain(self, deadline: float) -> None:
        """Finishes running work and hands back deliveries that have not started."""
        await self.sweep.stop()
        await self.waiting.stop()
        streams = asyncio.create_task(self._streams.drain(deadline))
        await asyncio.gather(self.worker.drain(deadline), self.analyses.drain(deadline))
        await streams
        await asyncio.gather(self._summaries.drain(2.0), self._proposer.drain(2.0))
        await self._live.flush(1.0)
        await self._usage.flush(2.0)
        await self._records.flush(2.0)
        await self._server.drain(1.0)
        await self._encodings.close()
        await self._own_models.close()
        await self._session.close()

    async def listening(self) -> None:
        """Raises ConnectionError if a consumer has gone silent."""
        if not self.worker.listening:
            raise ConnectionError("the turn consumer has gone silent")
        if not self.analyses.listening:
            raise ConnectionError("the consumer of analyses has gone silent")

    async def _read_log_around_floor(self) -> None:
        """Passes the facts around the turn consumer's floor to the sweep; a lost consumer would have left a message
        there."""
        floor = await self._turns_floor()
        end = (await self._chat.bounds()).last_seq
        position, has_more = max(floor - SWEPT_SEQUENCES, 1), True
        while has_more and position <= min(floor + SWEPT_SEQUENCES, end):
            batch = await self._messages.batch(CHAT_ALL, position, FACTS_PER_READ)
            for stored in batch.facts:
                address = parse_chat(stored.subject)
                # Facts after the floor may settle messages before it. Messages after it are left to the consumer.
                if address is None or (address.kind is ChatKind.VISITOR and stored.seq > floor):
                    continue
                for fact in facts_of([stored]):
                    self.sweep.observe(ConversationKey(address.company, address.conversation), fact, is_old=True)
            has_more = batch.more and bool(batch.facts)
            position = batch.facts[-1].seq + 1 if batch.facts else end + 1

    async def _turns_floor(self) -> int:
        """Returns the sequence up to which the turn consumer's messages are acknowledged or delivered to an agent."""
        inbox = ReplyInbox.of(self._nats)
        return floor_of(await ask(inbox, ConsumerInfo, f"CONSUMER.INFO.{CHAT.name}.{DURABLE}", deadline=5.0))

    def _company_changed(self, company: str, settings: CompanySettings | None) -> None:
        self._catalogue.drop(company)
        self.engine.settings_changed(company, settings)

    async def _turn_state(self, request: TurnStateRequest) -> TurnState | None:
        """Returns the running turn of a conversation; None, which is no answer, unless this agent drives it."""
        return self.engine.running(ConversationKey(request.company_id, request.conversation_id), request.turn_id)

    def _driven_here(self, key: ConversationKey, turn_id: str) -> bool:
        return self.engine.running(key, turn_id) is not None


def _session() -> aiohttp.ClientSession:
    """Creates the HTTP session for model servers."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=MAX_MODEL_CONNECTIONS),
        cookie_jar=aiohttp.DummyCookieJar(),
        # With `trust_env` every request reads .netrc in a thread, so it is set only if a proxy is configured.
        trust_env=bool(getproxies_environment()),
    )


def _limits(settings: AgentSettings, models: ModelSettings) -> Limits:
    return Limits(
        settings.turn_deadline_seconds,
        settings.model_seconds,
        settings.tool_seconds,
        TokenWindow(settings.window_tokens, settings.compress_above_tokens, settings.compress_to_tokens),
        models.window_tokens,
        models.sees,
    )


def _turn_worker(
    nats: Client, handler: TurnHandler, settings: AgentSettings, others_wait: Callable[[str], bool]
) -> PullWorker:
    return PullWorker(
        nats,
        CHAT.name,
        DURABLE,
        TURN_TRIGGERS,
        handler.handle,
        slots=settings.slots,
        starting=MAX_STARTING,
        ack_wait=settings.ack_wait_seconds,
        handler_timeout=MAX_DEADLINES * settings.turn_deadline_seconds,
        others_wait=others_wait,
    )


def _analysis_worker(nats: Client, ports: AnalysisPorts, settings: AgentSettings) -> PullWorker:
    analyst = Analyst(
        ports,
        AnalysisLimits(
            max_tool_calls=settings.analysis_max_tool_calls,
            default_tickers=settings.proxies,
            seconds=settings.analysis_deadline_seconds,
            model=settings.model_seconds,
            tool=settings.tool_seconds,
        ),
    )
    return PullWorker(
        nats,
        FACTS.name,
        ANALYSES_DURABLE,
        [ANALYSIS_REQUESTS],
        AnalysisHandler(analyst).handle,
        slots=ANALYSIS_SLOTS,
        ack_wait=settings.ack_wait_seconds,
        service="agent",
        handler_timeout=MAX_DEADLINES * settings.analysis_deadline_seconds,
    )
