"""A call with side effects that nobody knows the end of: looked up by its id, done once, never after its deadline."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import pytest

from contracts.events.chat import Action
from contracts.ids import uuid7
from contracts.market_rpc import ActionDecideRequest
from contracts.text import Text
from contracts.tools_rpc import Caller, ToolOutcome, ToolServiceRequest
from market_adapter.actions import ActionMethods
from market_adapter.adapters.mongo_accounts import MongoAccounts
from market_adapter.adapters.mongo_alerts import MongoAlerts
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.errors import ProviderDownError
from market_adapter.handlers import list_tools, user_tools
from market_adapter.outcomes import CallOutcomes
from market_adapter.paper_trading import PaperTrading
from market_adapter.testing.desk import PublishedFacts
from market_adapter.testing.markets import ScriptedProvider, bar
from market_adapter.tools.alerts import AlertTools
from market_adapter.tools.trading import TradingTools
from market_adapter.tools.watchlists import WatchlistTools
from runtime.calls.deadlines import serve_for
from runtime.clock import SystemClock
from runtime.errors import RpcError

ResultT = TypeVar("ResultT")
Calls = list[tuple[str, dict[str, Any]]]
ALERT: dict[str, Any] = {"symbol": "IBM", "condition": ">=", "price": 105, "message": "look"}
ORDER: dict[str, Any] = {"symbol": "IBM", "side": "buy", "quantity": 10, "order_type": "market"}


async def served_within(seconds: float, work: Awaitable[ResultT]) -> ResultT:
    """What the work gives as that of a request whose caller waits so long; nothing stops it but its own look."""

    async def served() -> ResultT:
        serve_for(seconds)
        return await work

    return await asyncio.create_task(served())


class Adapter:
    """All tools of one user, on a store of its own."""

    def __init__(self, database: Any) -> None:
        self.provider = ScriptedProvider({"IBM": [bar(day, "100", "100", "100", "100") for day in range(3)]})
        accounts, alerts, lists = MongoAccounts(database), MongoAlerts(database), MongoWatchlists(database)
        wall, provider = SystemClock(), self.provider
        books = PaperTrading(accounts, provider, PublishedFacts().publish, wall)
        made = (*user_tools(provider, books, wall), *list_tools(provider, alerts, lists, wall))
        self.tools = {method.subject.split(".")[2]: handler for method, handler in made}
        self.outcomes = CallOutcomes(
            TradingTools(provider, books, wall), AlertTools(provider, alerts, wall), WatchlistTools(provider, lists)
        )
        self.actions = ActionMethods(provider, books, wall)

    def request(self, tool: str, call_id: str, arguments: dict[str, Any]) -> ToolServiceRequest:
        return ToolServiceRequest(
            call_id=call_id,
            tool=tool,
            arguments=arguments,
            caller=Caller(company_id="demo", user_id="ann", role="user", plan="pro", language="en"),
        )

    async def call(self, tool: str, call_id: str = "", seconds: float = 60.0, **arguments: Any) -> dict[str, Any]:
        request = self.request(tool, call_id or uuid7(), arguments)
        return (await served_within(seconds, self.tools[tool](request))).result

    async def look_up(self, tool: str, call_id: str, **arguments: Any) -> ToolOutcome:
        return await self.outcomes.look_up(self.request(tool, call_id, arguments))

    async def everything(self) -> list[Any]:
        """What there is, by the tools that show it."""
        orders, alerts = await self.call("get_pending_orders"), await self.call("list_alerts")
        return [orders["orders"], alerts["alerts"], (await self.call("get_watchlist"))["symbols"]]


@pytest.fixture
def adapter(database: Any) -> Adapter:
    return Adapter(database)


async def effects(adapter: Adapter) -> Calls:
    """A call of each tool with side effects, on things that there are."""
    order = (await adapter.call("create_paper_order", **ORDER))["action_id"]
    alert = (await adapter.call("create_alert", **ALERT))["alert_id"]
    await adapter.call("add_to_watchlist", symbol="IBM")
    return [
        ("create_paper_order", ORDER),
        ("cancel_paper_order", {"order_id": order}),
        ("create_alert", ALERT),
        ("delete_alert", {"alert_id": alert}),
        ("remove_from_watchlist", {"symbol": "IBM"}),
        ("add_to_watchlist", {"symbol": "IBM"}),
    ]


async def test_each_effect_is_looked_up_by_the_call_that_made_it(adapter: Adapter) -> None:
    for tool, arguments in await effects(adapter):
        before = await adapter.everything()
        assert (await adapter.look_up(tool, f"mine-{tool}", **arguments)).state == "not_done", tool
        assert await adapter.everything() == before, f"a look-up of {tool} has changed something"
        made = await adapter.call(tool, f"mine-{tool}", **arguments)
        found = await adapter.look_up(tool, f"mine-{tool}", **arguments)
        assert (found.state, found.result) == ("done", made), tool


async def test_what_comes_after_its_deadline_is_not_done_and_says_so(adapter: Adapter) -> None:
    for tool, arguments in await effects(adapter):
        before = await adapter.everything()
        with pytest.raises(RpcError) as raised:
            await adapter.call(tool, "late", seconds=-1.0, **arguments)
        assert (raised.value.code, raised.value.reason) == ("TIMEOUT", "deadline_passed")
        assert await adapter.everything() == before, f"{tool} was done after its deadline"
        assert (await adapter.look_up(tool, "late", **arguments)).state == "not_done"


async def test_what_stood_still_on_its_way_to_the_store_is_not_done_either(adapter: Adapter) -> None:
    quote = adapter.provider.quote

    async def slow(symbol: Any) -> Any:
        await asyncio.sleep(0.3)
        return await quote(symbol)

    adapter.provider.quote = slow
    before = await adapter.everything()
    makers: Calls = [("create_paper_order", ORDER), ("create_alert", ALERT), ("add_to_watchlist", {"symbol": "IBM"})]
    for tool, arguments in makers:
        with pytest.raises(RpcError) as raised:
            await adapter.call(tool, "slow", seconds=0.2, **arguments)
        assert raised.value.code == "TIMEOUT"
    assert await adapter.everything() == before


async def test_what_was_made_is_told_while_the_market_is_silent(adapter: Adapter) -> None:
    """The same call again must not say that it failed because no price can be had for what exists already."""
    calls: Calls = [("create_paper_order", ORDER), ("create_alert", ALERT), ("add_to_watchlist", {"symbol": "IBM"})]
    made = [await adapter.call(tool, "mine", **arguments) for tool, arguments in calls]

    async def silent(symbol: Any) -> Any:
        raise ProviderDownError(str(symbol), Text(es="nada", en="nothing"))

    adapter.provider.quote = silent
    for (tool, arguments), first in zip(calls, made, strict=True):
        assert await adapter.call(tool, "mine", **arguments) == first
        assert (await adapter.look_up(tool, "mine", **arguments)).result == first


async def test_a_late_repeat_does_not_undo_what_somebody_has_changed_since(adapter: Adapter) -> None:
    await adapter.call("add_to_watchlist", "mine", symbol="IBM")
    await adapter.call("remove_from_watchlist", symbol="IBM")
    assert (await adapter.call("add_to_watchlist", "mine", symbol="IBM"))["symbols"] == []
    found = await adapter.look_up("add_to_watchlist", "mine", symbol="IBM")
    assert (found.state, (found.result or {})["symbols"]) == ("done", [])


async def test_of_many_who_decide_at_once_the_first_counts_and_all_are_told_the_same(adapter: Adapter) -> None:
    for _ in range(5):
        order = (await adapter.call("create_paper_order", **ORDER))["action_id"]

        async def decide(decision: str, order: str = order) -> str:
            asked = {"company_id": "demo", "user_id": "ann", "action_id": order, "decision": decision}
            return (await adapter.actions.decide(ActionDecideRequest.model_validate(asked))).action.state.value

        told = await asyncio.gather(*(decide(one) for one in ("confirm", "reject") * 5))
        assert len(set(told)) == 1, told
        placed = [one for one in (await adapter.everything())[0] if one["order_id"] == order]
        assert bool(placed) is (told[0] == "confirmed")


@pytest.mark.parametrize("decision", ["confirm", "reject"])
async def test_a_decision_that_came_after_its_deadline_decides_nothing_and_tells_how_it_stands(
    adapter: Adapter, decision: str
) -> None:
    order = (await adapter.call("create_paper_order", **ORDER))["action_id"]

    async def decide(decision: str, seconds: float) -> Action:
        wanted = {"company_id": "demo", "user_id": "ann", "action_id": order, "decision": decision}
        asked = ActionDecideRequest.model_validate(wanted)
        return (await served_within(seconds, adapter.actions.decide(asked))).action

    with pytest.raises(RpcError) as raised:
        await decide(decision, -1)
    assert (raised.value.code, raised.value.reason) == ("TIMEOUT", "deadline_passed")
    first = await decide("reject", 60)
    assert first.state.value == "rejected"
    # What is decided is told to whoever comes late as well.
    assert await decide(decision, -1) == first


async def test_of_a_tool_that_is_not_its_own_nothing_is_known(adapter: Adapter) -> None:
    assert (await adapter.look_up("get_price", "mine", symbol="IBM")).state == "unknown"
