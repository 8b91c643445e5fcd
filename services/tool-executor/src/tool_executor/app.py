"""The composition root: builds the executor from its settings, once."""

from dataclasses import dataclass, field

import structlog
from nats.aio.client import Client

from contracts.channels import TOOL_REQUESTS
from contracts.streams import KNOWLEDGE, TOOLS
from runtime.auth.principals import Verify
from runtime.auth.seal import Seal
from runtime.bus.clock import JetStreamClock
from runtime.bus.connection import subscribe
from runtime.bus.publisher import Publisher
from runtime.bus.replies import ReplyInbox
from runtime.calls.rpc import RpcClient
from runtime.companies import CHANGES, CompanyCache
from runtime.settings import SealSettings
from runtime.workers.backlog import Backlog
from runtime.workers.pull_worker import PullWorker
from tool_executor.adapters.call_records import RedisCallRecords
from tool_executor.adapters.companies import ExecutorCompanies
from tool_executor.adapters.local_limiter import LocalRateLimiter
from tool_executor.adapters.mcp_tools import McpToolHandlers
from tool_executor.adapters.metrics import CALLS_DUE, OLDEST_CALL, count_from_zero
from tool_executor.adapters.own_http import OwnHttpTools, OwnSessions
from tool_executor.adapters.page_fetcher import PageFetcher
from tool_executor.adapters.portfolio_changes import PortfolioChanges
from tool_executor.adapters.rate_limiter import RedisRateLimiter
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.adapters.remote_tools import RemoteTools
from tool_executor.adapters.renewals import Renewals
from tool_executor.adapters.result_cache import RedisResultCache
from tool_executor.adapters.site_pages import SitePages
from tool_executor.announcements import AnnouncedTools
from tool_executor.catalogue.all_tools import all_tools
from tool_executor.catalogue.announced import Offers
from tool_executor.catalogue.own import OwnCatalogue, OwnHandlers
from tool_executor.catalogue.registry import build_registry
from tool_executor.crawl.crawler import Crawler
from tool_executor.crawl.facts import KnowledgeFacts
from tool_executor.crawl.handler import FILES, REFRESH, FileHandler, RunHandler
from tool_executor.crawl.preparation import Preparation
from tool_executor.crawl.uploads import Uploads
from tool_executor.domain.declaration import DeclaredTool
from tool_executor.domain.site_address import Origin
from tool_executor.extraction.isolation import Extraction
from tool_executor.handlers import CallHandler, CatalogueHandler
from tool_executor.own_actions import OwnActions
from tool_executor.own_checks import OwnChecks
from tool_executor.pipeline.cache import Cache
from tool_executor.pipeline.call import CallProgress, Pipeline
from tool_executor.pipeline.execution import Bulkhead, Execution
from tool_executor.pipeline.idempotency import Idempotency
from tool_executor.pipeline.permission import FindTool, PrepareCall, RateStep, authorize
from tool_executor.pipeline.validation import check_output, validate
from tool_executor.settings import ExecutorSettings

log = structlog.get_logger(__name__)

DURABLE = "tool-executor"
PAGE_TOKENS = 2_000
"""Tokens of a page that fetch_page returns."""
RECORD_SECONDS = 86_400
"""Seconds for which a call with side effects is remembered."""
FILE_SLOTS = 4
"""Uploaded documents read at the same time."""


@dataclass(frozen=True, slots=True)
class ExecutorConnections:
    """The systems that the executor talks to."""

    nats: Client
    redis_url: str
    redis_deadline: float
    verify: Verify
    demo: Origin | None = None
    loopback: bool = False
    """Whether every origin on this machine may be a company's site, or serve its own tools."""
    seal: Seal = field(default_factory=lambda: Seal(SealSettings()))


class Executor:
    """All parts of one executor process. `more_tools`: declarations beside the catalogue's own."""

    def __init__(
        self, connections: ExecutorConnections, settings: ExecutorSettings, more_tools: tuple[DeclaredTool, ...] = ()
    ) -> None:
        nats = connections.nats
        self.store = RedisStore(connections.redis_url, connections.redis_deadline)
        self._renewals = Renewals(self.store)
        rpc = RpcClient(nats)
        self._nats = nats
        self.settings = CompanyCache(nats, rpc)
        self.companies = ExecutorCompanies(self.settings)
        self._fetcher = PageFetcher(demo=connections.demo, loopback=connections.loopback)
        pages = SitePages(self._fetcher, demo=connections.demo, budget=PAGE_TOKENS, loopback=connections.loopback)
        self.registry = build_registry([*all_tools(pages.read), *more_tools])
        count_from_zero(entry.tool.name for entry in self.registry)
        self._own_sessions = OwnSessions(connections.seal, loopback=connections.loopback)
        http, mcp = OwnHttpTools(self._own_sessions), McpToolHandlers(self._own_sessions)
        self.own_actions = OwnActions(self.store, Publisher(nats), self.companies, lambda: self.own)
        self.own = OwnCatalogue(OwnHandlers(http.handler, mcp.handler, self.own_actions.hold))
        self.settings.on_change(self.own.learn)
        self.own_checks = OwnChecks(self.own, mcp)
        self.offers = Offers(self.registry, own=self.own)
        self.announcements = AnnouncedTools(nats, self.offers)
        self._limiter = RedisRateLimiter(self.store)
        self._cache = RedisResultCache(self.store, self._renewals)
        self._changes = PortfolioChanges(nats, self._cache)
        pipeline = self._pipeline(rpc, settings)
        clock = JetStreamClock(ReplyInbox.of(nats), TOOLS.name)
        calls = CallHandler(pipeline, connections.verify, Publisher(nats), clock)
        self.worker = PullWorker(nats, TOOLS.name, DURABLE, [TOOL_REQUESTS], calls.handle, slots=settings.slots)
        self.waiting = Backlog(self.worker, CALLS_DUE, OLDEST_CALL)
        self.extraction = Extraction()
        self.reading = self._reading(connections, rpc, settings)
        catalogue = CatalogueHandler(self.offers, self.companies, self._limiter)
        self.catalogue, self.details = catalogue.catalogue, catalogue.details

    def _reading(
        self, connections: ExecutorConnections, rpc: RpcClient, settings: ExecutorSettings
    ) -> list[PullWorker]:
        """Returns the workers that read companies' sites and files, each with slots of its own, so that neither calls
        nor files wait for sites."""

        def interval(origin: Origin) -> float:
            is_own = connections.loopback and origin.is_loopback
            return 1 / (settings.crawl_own_per_second if is_own else settings.crawl_per_second)

        facts, extraction = KnowledgeFacts(Publisher(self._nats)), self.extraction
        preparation = Preparation(
            self.store, self._fetcher, rpc, interval, demo=connections.demo, loopback=connections.loopback
        )
        runs = RunHandler(Crawler(self.store, preparation, extraction, facts), self.settings)
        files = FileHandler(Uploads(self._nats, extraction, facts))
        return [
            PullWorker(self._nats, KNOWLEDGE.name, durable, [subject], handle, slots=slots, service=DURABLE)
            for durable, subject, handle, slots in (
                ("tool-executor-knowledge", REFRESH, runs.handle, settings.crawl_slots),
                ("tool-executor-files", FILES, files.handle, FILE_SLOTS),
            )
        ]

    async def start(self) -> None:
        """Subscribes to changes of settings, tools and portfolios; called before the worker takes calls."""
        await subscribe(self._nats, CHANGES, self.settings.changed)
        await self._changes.start()
        await self.announcements.start()
        await self.waiting.start()

    async def reconnected(self) -> None:
        """Reads announcements that were published while the bus was away."""
        self.settings.missed()
        self.announcements.catch_up_soon()

    def _on_gone(self, subject: str) -> None:
        for service in self.offers.end_offers_of(subject):
            log.warning("tools.owner_gone", service=service, subject=subject)

    def _pipeline(self, rpc: RpcClient, settings: ExecutorSettings) -> Pipeline:
        """Returns the steps in the order in which a call passes them; 7 and 8 check the results of the steps below."""
        return Pipeline(
            [
                PrepareCall(self.offers, self.companies),
                Idempotency(RedisCallRecords(self.store, self._renewals, RECORD_SECONDS), self.offers),  # 0
                FindTool(self.offers, self.companies),  # 1
                authorize,  # 2
                RateStep(self._limiter, LocalRateLimiter()),  # 3
                validate,  # 4
                Cache(self._cache),  # 5 and 8
                Bulkhead(settings.slots, slow_places=settings.slow_slots),
                check_output,  # 7
                Execution(RemoteTools(rpc, self._on_gone), _on_fault),  # 6
            ],
            _on_fault,
        )

    async def close(self) -> None:
        """Closes connections and sessions, after the last call has ended."""
        await self.waiting.stop()
        await self.announcements.close()
        await self._fetcher.close()
        await self._own_sessions.close()
        await self._renewals.close()
        await self.store.close()


def _on_fault(call: CallProgress, fault: BaseException) -> None:
    log.error("tool.fault", tool=call.tool, call_id=call.call_id, kind=type(fault).__name__, exc_info=fault)
