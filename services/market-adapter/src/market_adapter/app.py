"""The composition root: the only place that builds things and reads settings."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from contracts import market_rpc
from contracts.streams import FACTS
from contracts.tools_rpc import TOOL_OUTCOME
from market_adapter.actions import ActionMethods
from market_adapter.adapters.bar_table import BadBarsError
from market_adapter.adapters.crypto_exchange import CryptoExchange, is_known
from market_adapter.adapters.demo_market import SOURCE as DEMO_SOURCE
from market_adapter.adapters.demo_market import demo_note, last_session, load_demo
from market_adapter.adapters.exchange_calendar import new_york_state
from market_adapter.adapters.files_provider import FilesProvider
from market_adapter.adapters.live_provider import LiveProvider
from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_accounts import MongoAccounts
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_session import DEMO, DEMO_ENDS, KEY, MongoSessionStore
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.adapters.nats_facts import NatsFacts
from market_adapter.adapters.nats_nudge import NatsNudge
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import SampleData, load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.adapters.sample_replay import following_sessions
from market_adapter.adapters.yahoo import Yahoo
from market_adapter.alert_watcher import AlertWatcher
from market_adapter.background_jobs import BackgroundJobs
from market_adapter.context import MarketContext
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.domain.ta_lib import load_ta_lib
from market_adapter.handlers import list_tools, market_tools, rpc_method, user_tools
from market_adapter.outcomes import CallOutcomes
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.replay import SampleMover
from market_adapter.settings import MarketSettings
from market_adapter.tools.alerts import AlertTools
from market_adapter.tools.portfolio import PortfolioTools
from market_adapter.tools.trading import TradingTools
from market_adapter.tools.watchlists import WatchlistTools
from market_adapter.unseen_news import UnseenNews
from market_adapter.user_data import UserData
from runtime.clock import SystemClock
from runtime.errors import NotReadyError
from runtime.lifecycle.service import Service
from runtime.settings import DevSettings, MongoSettings, NatsSettings
from runtime.stores.mongo import Database, driver_message, url_must_be_valid, watch_database
from runtime.stores.store_format import check_format

Job = Callable[[], Awaitable[None]]
ROUND_SECONDS, LIVE_ROUND_SECONDS = 5.0, 15.0
"""Interval of background jobs. The sample announces its moves, so its rounds only find expired proposals and facts that
could not be published. Rounds with a live provider count against its rate limit, and those with a folder read it."""


@dataclass(frozen=True, slots=True)
class Market:
    """The source of market data, and how often its jobs run. `clock` is the sample's or the demo's clock, whose session
    is stored under `key`."""

    provider: MarketProvider
    round_seconds: float = LIVE_ROUND_SECONDS
    jobs: Sequence[Job] = ()
    clock: SampleClock | None = None
    key: str = KEY


def build() -> Service:
    """Builds the service without starting it; reads the environment."""
    settings = MarketSettings()
    service = Service("market-adapter", nats=NatsSettings(), port=settings.port, host=DevSettings().bind_host)
    service.writes(FACTS)
    live = live_market(service, settings.crypto_exchange) if settings.provider == "live" else None

    async def prepare() -> None:
        database = connect(service, MongoSettings())
        await prepare_stores(database)
        market = live or await recorded_market(settings, database)
        serve_the_market(service, market.provider)
        jobs = serve_users(service, market, database)
        if market.clock is not None and not settings.frozen:
            store = MongoSessionStore(database, market.key)
            await start_replay(service, market.clock, store, settings.seconds_per_bar, jobs.wake)
        # Not earlier: before, this replica's clock may be behind the market that the accounts have processed.
        run_with_service(service, "attendant", jobs.run(), jobs.stop)
        run_with_service(service, None, warm_up(market.provider), lambda: None)

    service.on_start(prepare)
    return service


def live_market(service: Service, crypto_exchange: str) -> Market:
    """The live market: Yahoo and one crypto exchange. Raises NotReadyError if ccxt has no such exchange."""
    if not is_known(crypto_exchange):
        raise NotReadyError(f"NEXUS_CRYPTO_EXCHANGE={crypto_exchange}: ccxt has no such exchange; kraken is one")
    yahoo, exchange = Yahoo(), CryptoExchange(crypto_exchange)

    async def hang_up() -> None:
        yahoo.close()
        await exchange.close()

    service.on_stop(hang_up)
    return Market(LiveProvider(yahoo, exchange, SystemClock()))


async def recorded_market(settings: MarketSettings, database: Database) -> Market:
    """The sample, the demo or a folder of files. Raises NotReadyError if it cannot be read."""
    if settings.folder is not None:
        try:
            files = await asyncio.to_thread(FilesProvider, settings.folder, SystemClock())
        except BadBarsError as error:
            raise NotReadyError(f"NEXUS_MARKET_PROVIDER={settings.provider}: {error}") from error
        return Market(files, jobs=[files.refresh])
    if settings.provider == "demo":
        last_day = await asyncio.to_thread(last_session, SystemClock().now())
        if not settings.frozen:
            # The first start decides for all replicas and later starts: their clocks and accounts depend on these
            # dates.
            with store_errors_at_start():
                last_day = await MongoSessionStore(database, DEMO_ENDS).begin(last_day)
        data, facts = await asyncio.to_thread(load_demo, last_day)
        clock = sample_clock(data, frozen=settings.frozen)
        provider = SampleProvider(data, facts, clock, DEMO_SOURCE, demo_note(last_day))
        return Market(provider, ROUND_SECONDS, clock=clock, key=DEMO)
    sample = load_sample()
    clock = sample_clock(sample, frozen=settings.frozen)
    return Market(SampleProvider(sample, load_facts(), clock), ROUND_SECONDS, clock=clock)


def sample_clock(sample: SampleData, *, frozen: bool) -> SampleClock:
    """The sample's clock: frozen at the last recorded session, or running for as long as the service does."""
    following = None if frozen else following_sessions()
    return SampleClock(sample.sessions, sample.closes, at_end=frozen, following=following)


async def warm_up(provider: MarketProvider) -> None:
    """Imports libraries that take seconds while the service is already running, so that the first callers need not
    wait.

    Their objects are excluded from garbage collection, which would otherwise stop the service for 0.1 s each time.
    """
    gc.disable()
    try:
        if isinstance(provider, LiveProvider):  # first, since every call needs it
            await provider.load()
        await load_ta_lib()
        await new_york_state(provider.now())
        if isinstance(provider, LiveProvider):  # last: it takes longest, and crypto is rarely asked for first
            await provider.load_pairs()
    finally:
        gc.freeze()
        gc.enable()


def serve_the_market(service: Service, provider: MarketProvider) -> None:
    """Serves the market data, which are the same for everybody."""
    for method, handler in market_tools(provider):
        service.serve(method, handler)
    context = MarketContext(provider)
    service.serve(market_rpc.MARKET_STATUS, context.status)
    service.serve(market_rpc.MARKET_EVENTS, context.events)
    service.serve(market_rpc.MARKET_QUOTES, context.quotes)


def serve_users(service: Service, market: Market, database: Database) -> BackgroundJobs:
    """Serves users' own data; returns the background jobs that keep them up to date."""
    wall_clock, provider = SystemClock(), market.provider
    accounts, alerts, watchlists = MongoAccounts(database), MongoAlerts(database), MongoWatchlists(database)
    publish = NatsFacts(service.publisher).publish
    paper_trading = PaperTrading(accounts, provider, publish, wall_clock)
    for method, handler in (
        *user_tools(provider, paper_trading, wall_clock),
        *list_tools(provider, alerts, watchlists, wall_clock),
    ):
        service.serve(method, handler)
    actions = ActionMethods(provider, paper_trading, wall_clock)
    service.serve(market_rpc.ACTION_DECIDE, rpc_method(actions.decide))
    service.serve(market_rpc.ACTIONS_PENDING, rpc_method(actions.pending))
    service.serve(market_rpc.ACTIONS_GET, rpc_method(actions.states))
    outcomes = CallOutcomes(
        TradingTools(provider, paper_trading, wall_clock),
        AlertTools(provider, alerts, wall_clock),
        WatchlistTools(provider, watchlists),
    )
    service.serve(TOOL_OUTCOME, outcomes.look_up)
    unseen_news = UnseenNews(alerts, paper_trading)
    service.serve(market_rpc.ALERTS_UNTOLD, rpc_method(unseen_news.untold))
    service.serve(market_rpc.ALERTS_TOLD, rpc_method(unseen_news.mark_told))
    watcher = AlertWatcher(alerts, provider, publish)
    user_data = UserData(PortfolioTools(provider, paper_trading), accounts, alerts, watchlists)
    service.serve(market_rpc.HOLDINGS, rpc_method(user_data.holdings))
    service.serve(market_rpc.USER_FORGET, rpc_method(user_data.forget))
    service.serve(market_rpc.COMPANY_FORGET, rpc_method(user_data.forget_company))
    return BackgroundJobs(
        [*market.jobs, paper_trading.run, watcher.run], wall_clock, round_seconds=market.round_seconds
    )


def connect(service: Service, mongo: MongoSettings) -> Database:
    """Connects to MongoDB, without which the service is not ready."""
    with url_must_be_valid():
        client = AsyncMongoClient[dict[str, Any]](mongo.url, **mongo.client_options)

    async def ping() -> None:
        await client.admin.command("ping")

    service.on_stop(client.close)
    service.add_check("mongodb", ping)
    database = bounded(client[mongo.database])
    watch_database(service, (database.limit,), ping, mongo.url)
    return database


async def prepare_stores(database: Database) -> None:
    """Creates the indexes. Raises NotReadyError if MongoDB does not answer, or its format is of a newer release."""
    with store_errors_at_start():
        await check_format(database)
        await asyncio.gather(MongoAccounts(database).prepare(), MongoAlerts(database).prepare())


@contextmanager
def store_errors_at_start() -> Generator[None]:
    """Converts MongoDB's errors in the block to NotReadyError, whose message says what to check."""
    try:
        yield
    except PyMongoError as error:
        message = f"MongoDB does not answer: is NEXUS_MONGODB_URL right? {driver_message(error)}"
        raise NotReadyError(message, retryable=True) from error


async def start_replay(
    service: Service, clock: SampleClock, store: MongoSessionStore, seconds_per_bar: float, on_move: Callable[[], None]
) -> None:
    """Moves the sample clock to the stored session, and keeps it moving for as long as the service runs.

    Raises:
        NotReadyError: MongoDB does not answer.
    """
    nudge = NatsNudge(service.nats)
    replay = SampleMover(clock, store, nudge.send, SystemClock(), seconds_per_bar=seconds_per_bar, on_move=on_move)
    await nudge.listen(replay.wake)
    with store_errors_at_start():
        await replay.start()

    async def wake_after_reconnect() -> None:
        replay.wake()

    service.on_reconnect(wake_after_reconnect)
    run_with_service(service, "sample clock", replay.run(), replay.stop)


def run_with_service(
    service: Service, name: str | None, run: Coroutine[Any, Any, None], stop: Callable[[], None]
) -> None:
    """Runs a coroutine until the service stops and `stop` is called. If it has a name, its end by an error is
    reported."""
    task: asyncio.Task[None] = asyncio.create_task(run, name=name)
    if name is not None:
        service.watch(name, lambda: "its task has ended" if task.done() and _failed(task) else None)

    async def end() -> None:
        stop()
        await task

    service.on_stop(end)


def _failed(task: asyncio.Task[None]) -> bool:
    return task.cancelled() or task.exception() is not None


async def serve() -> None:
    """Builds the service and runs it until it is told to stop."""
    await build().run()
