"""Alerts: when they fire, and that each does so once, whoever dies and however many look."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from contracts.events.registry import BY_TYPE
from contracts.ids import uuid7
from contracts.market_rpc import AlertsToldRequest
from contracts.memory_rpc import UserRef
from contracts.tools.account import Condition
from contracts.tools_rpc import Caller, ToolServiceRequest
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.alert_watcher import AlertWatcher
from market_adapter.domain.alerts import Alert, AlertState, watch
from market_adapter.domain.bars import Split
from market_adapter.domain.paper.account import Owner
from market_adapter.handlers import list_tools
from market_adapter.paper_trading import PaperTrading
from market_adapter.testing.desk import MemoryAccounts, PublishedFacts
from market_adapter.testing.markets import FIRST_DAY, ScriptedProvider, bar
from market_adapter.unseen_news import UnseenNews
from runtime.errors import PublishFailedError, RpcError
from runtime.testing.clock import FakeClock

ANN = UserRef(company_id="demo", user_id="ann")


def alert(condition: str, price: str, last: str = "100") -> Alert:
    seen = bar(0, "1", "1", "1", "1")
    return Alert(
        id="a1", owner=Owner("demo", "ann"), symbol="IBM", condition=Condition(condition), price=Decimal(price),
        created_at=datetime(2024, 1, 1, tzinfo=UTC), seen_until=seen.end, session=seen.session, last=Decimal(last),
    )  # fmt: skip


@pytest.mark.parametrize(("condition", "level", "open_", "high", "low", "close", "at"), [
    (">=", "105", "100", "105", "99", "101", "105"),
    (">=", "105", "107", "108", "106", "107", "107"),
    (">=", "105", "100", "104.99", "99", "101", None),
    (">=", "95", "100", "101", "99", "100", "100"),  # true from the start: the first new bar fires it
    ("<=", "95", "100", "101", "95", "99", "95"),
    ("<=", "95", "90", "92", "88", "91", "90"),
    ("<=", "95", "100", "101", "95.01", "99", None),
    ("==", "105", "100", "105", "99", "101", "105"),
    ("==", "105", "107", "108", "106", "107", "107"),  # crossed in the gap
    ("==", "95", "90", "92", "88", "91", "90"),
    ("==", "105", "100", "104", "99", "101", None),
])  # fmt: skip
def test_an_alert_fires_when_its_condition_comes_true(
    condition: str, level: str, open_: str, high: str, low: str, close: str, at: str | None
) -> None:
    found = watch(alert(condition, level), [bar(1, open_, high, low, close)], ())
    assert found.triggered_price == (None if at is None else Decimal(at))
    assert (found.state is AlertState.TRIGGERED) is (at is not None)


def test_bars_from_before_the_alert_do_not_count() -> None:
    assert watch(alert(">=", "105"), [bar(0, "200", "200", "200", "200")], ()).state is AlertState.ACTIVE


def test_only_the_first_bar_that_makes_it_true_counts() -> None:
    bars = [bar(1, "100", "101", "99", "100"), bar(2, "106", "107", "105", "106"), bar(3, "110", "111", "109", "110")]
    found = watch(alert(">=", "105"), bars, ())
    assert (found.triggered_price, found.triggered_at) == (106, bars[1].end)
    assert watch(found, bars, ()) == found


def test_a_split_is_no_fall() -> None:
    split = Split(FIRST_DAY + timedelta(days=1), Fraction(2))
    found = watch(alert("<=", "90"), [bar(1, "50", "51", "49", "50")], (split,))
    assert (found.state, found.price) == (AlertState.ACTIVE, 45)
    assert watch(found, [bar(2, "46", "46", "44", "45")], (split,)).triggered_price == 45


class Watch:
    """A replica, its tools and what it has announced."""

    def __init__(self, provider: ScriptedProvider, database: Any) -> None:
        self.provider = provider
        self.published = PublishedFacts()
        self.store = MongoAlerts(database)
        self.alarms = AlertWatcher(self.store, provider, self.published.publish)
        books = PaperTrading(MemoryAccounts({}, {}), provider, self.published.publish, FakeClock())
        self.untold = UnseenNews(self.store, books)
        made = list_tools(provider, self.store, MongoWatchlists(database), FakeClock())
        self.tools = {method.subject.split(".")[2]: handler for method, handler in made}

    async def call(self, tool: str, call_id: str = "c1", user: str = "ann", **arguments: Any) -> dict[str, Any]:
        caller = Caller(company_id="demo", user_id=user, role="user", plan="pro", conversation_id="talk")
        request = ToolServiceRequest(call_id=call_id, tool=tool, arguments=arguments, caller=caller)
        return (await self.tools[tool](request)).result

    async def create(self, price: float = 105, call_id: str = "c1", **more: Any) -> str:
        asked: dict[str, Any] = {"symbol": "ibm", "condition": ">=", "price": price, **more}
        return (await self.call("create_alert", call_id, **asked))["alert_id"]

    async def symbols(self, tool: str, **arguments: Any) -> list[str]:
        return (await self.call(tool, uuid7(), **arguments))["symbols"]

    async def bars(self) -> None:
        self.provider.today += 1
        await self.alarms.run()


@pytest.fixture
def provider() -> ScriptedProvider:
    closes = ["100", "101", "110", "120"]
    return ScriptedProvider({"IBM": [bar(day, close, close, close, close) for day, close in enumerate(closes)]})


@pytest.fixture
def desk(provider: ScriptedProvider, database: Any) -> Watch:
    return Watch(provider, database)


@pytest.mark.parametrize(
    ("condition", "level", "already"), [(">=", 99, True), ("<=", 101, True), ("==", 100, True), ("<=", 99, False)]
)
async def test_an_alert_that_is_true_already_says_so(desk: Watch, condition: str, level: int, already: bool) -> None:
    made = await desk.call("create_alert", symbol="IBM", condition=condition, price=level)
    assert made["already_true"] is already


async def test_an_alert_lives_until_it_fires_and_is_then_told(desk: Watch) -> None:
    made = await desk.call("create_alert", symbol="ibm", condition=">=", price=105, message="look")
    assert (made["symbol"], made["current_price"], made["source"]) == ("IBM", 100, "scripted")
    assert made["already_true"] is False
    listed = (await desk.call("list_alerts", symbol="IBM"))["alerts"]
    assert [one["alert_id"] for one in listed] == [made["alert_id"]]
    await desk.bars()
    assert desk.published.facts == {}
    await desk.bars()
    await desk.bars()
    (fact,) = desk.published.of("alert.triggered.v1")
    assert BY_TYPE["alert.triggered.v1"].data.model_validate(fact)
    assert (fact["alert"]["triggeredPrice"], fact["alert"]["message"], fact["conversationId"]) == (110, "look", "talk")
    assert (await desk.call("list_alerts"))["alerts"] == []
    assert desk.published.times == 1


async def test_what_the_user_was_not_told_is_kept_until_they_are(desk: Watch) -> None:
    fired = await desk.create()
    await desk.bars()
    await desk.bars()
    assert [alert.id for alert in (await desk.untold.untold(ANN)).alerts] == [fired]
    assert (await desk.untold.untold(UserRef(company_id="demo", user_id="bob"))).alerts == []
    stranger = AlertsToldRequest(company_id="demo", user_id="bob", alert_ids=[fired])
    assert (await desk.untold.mark_told(stranger)).told == 0
    mine = AlertsToldRequest(company_id="demo", user_id="ann", alert_ids=[fired, "other"])
    assert [(await desk.untold.mark_told(mine)).told for _ in range(2)] == [1, 0]
    assert (await desk.untold.untold(ANN)).alerts == []


async def test_the_same_call_makes_one_alert(desk: Watch) -> None:
    assert len({await desk.create() for _ in range(3)}) == 1
    assert len(set(await asyncio.gather(*[desk.create(call_id="c2") for _ in range(5)]))) == 1
    assert len((await desk.call("list_alerts"))["alerts"]) == 2


async def test_many_replicas_fire_an_alert_once(provider: ScriptedProvider, database: Any) -> None:
    replicas = [Watch(provider, database) for _ in range(4)]
    await replicas[0].create()
    provider.today = 3
    await asyncio.gather(*[replica.alarms.run() for replica in replicas])
    assert len({key for replica in replicas for key in replica.published.facts}) == 1
    (stored,) = await replicas[0].store.untold(Owner("demo", "ann"))
    assert stored.announced


async def test_a_deleted_alert_does_not_fire(desk: Watch) -> None:
    made = await desk.create()
    for _ in range(2):
        assert await desk.call("delete_alert", alert_id=made) == {"alert_id": made, "status": "deleted"}
    for _ in range(3):
        await desk.bars()
    assert desk.published.facts == {}


async def test_an_alert_that_cannot_be_dealt_with_holds_up_nobody_else(desk: Watch) -> None:
    nonsense = replace(alert(">=", "1"), id="0", symbol="A,B", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    await desk.store.add(nonsense)
    fired = await desk.create()
    await desk.bars()
    await desk.bars()
    assert [alert.id for alert in (await desk.untold.untold(ANN)).alerts] == [fired]


async def test_an_alert_that_fired_while_the_bus_was_away_is_announced_later(desk: Watch) -> None:
    await desk.create()
    desk.published.away = True
    desk.provider.today = 3
    with pytest.raises(PublishFailedError):
        await desk.alarms.run()
    desk.published.away = False
    await desk.alarms.run()
    await desk.alarms.run()
    assert desk.published.times == 1


async def test_nobody_deletes_somebody_elses_alert(desk: Watch) -> None:
    made = await desk.create()
    for user, name in (("bob", made), ("ann", "unknown")):
        with pytest.raises(RpcError) as raised:
            await desk.call("delete_alert", user=user, alert_id=name)
        assert raised.value.reason == "not_found"


@pytest.mark.parametrize(("arguments", "code"), [
    ({"condition": ">"}, "VALIDATION_ERROR"),
    ({"price": 0}, "VALIDATION_ERROR"),
    ({"symbol": "TSLA"}, "EXECUTION_ERROR"),
])  # fmt: skip
async def test_an_alert_that_cannot_be_is_refused(desk: Watch, arguments: dict[str, Any], code: str) -> None:
    asked: dict[str, Any] = {"symbol": "IBM", "condition": ">=", "price": 105.0, **arguments}
    with pytest.raises(RpcError) as raised:
        await desk.call("create_alert", **asked)
    assert raised.value.code == code


async def test_a_watchlist_is_each_users_own_and_in_its_order(desk: Watch) -> None:
    for name in ("AAPL", "BRK.B"):
        desk.provider.all_bars[name] = desk.provider.all_bars["IBM"]
    assert await desk.symbols("get_watchlist") == []
    for text in ("ibm", "brk-b", "$AAPL", "IBM"):
        found = await desk.symbols("add_to_watchlist", symbol=text)
    assert found == ["IBM", "BRK.B", "AAPL"]
    assert await desk.symbols("remove_from_watchlist", symbol="brk/b") == ["IBM", "AAPL"]
    assert await desk.symbols("remove_from_watchlist", symbol="brk/b") == ["IBM", "AAPL"]
    assert await desk.symbols("get_watchlist", user="bob") == []
    with pytest.raises(RpcError) as raised:
        await desk.call("add_to_watchlist", symbol="TSLA")
    assert raised.value.reason == "no_data"


async def test_two_additions_at_the_same_moment_lose_nothing(desk: Watch) -> None:
    names = ["IBM", "AAPL", "MSFT", "GOOG", "FB"]
    desk.provider.all_bars = dict.fromkeys(names, desk.provider.all_bars["IBM"])
    await asyncio.gather(*[desk.call("add_to_watchlist", name, symbol=name) for name in names])
    assert sorted((await desk.call("get_watchlist"))["symbols"]) == sorted(names)


async def test_an_alert_survives_the_store_as_it_is(desk: Watch) -> None:
    made = replace(alert("==", "12.345678"), message="ä", triggered_price=Decimal("1.10"))
    assert await desk.store.add(made) == made
    (found,) = await desk.store.active(made.owner)
    assert found == made
