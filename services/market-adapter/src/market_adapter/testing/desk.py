"""Paper trading for tests: a market that the test moves, a store in memory, and a bus that records facts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from contracts.market_rpc import ActionDecideRequest
from contracts.tools_rpc import Caller, ToolServiceRequest
from market_adapter.actions import ActionMethods
from market_adapter.domain.bars import Split
from market_adapter.domain.paper.account import Account, Fact, Owner
from market_adapter.domain.paper.orders import OrderState
from market_adapter.handlers import user_tools
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import AccountStore
from market_adapter.testing.markets import ScriptedProvider, bar
from runtime.errors import NotStoredError
from runtime.testing.clock import FakeClock

ANN = Owner("demo", "ann")


class Crash(BaseException):
    """Stands for a process that dies here."""


class PublishedFacts:
    """The published facts by id: like the bus, it keeps one of each."""

    def __init__(self) -> None:
        self.facts: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.times = 0
        self.away = False

    async def publish(self, owner: Owner, fact: Fact) -> None:
        if self.away:
            raise NotStoredError("the bus is away")
        self.times += 1
        self.facts[str(owner), fact.kind, fact.key] = fact.data

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [data for (_, fact_kind, _), data in self.facts.items() if fact_kind == kind]


@dataclass
class MemoryAccounts:
    """Implements AccountStore in memory; raises Crash before or after a save if `die` says so."""

    accounts: dict[str, Account]
    archive_: dict[str, Any]
    die: str = ""

    async def load(self, owner: Owner) -> Account:
        return self.accounts.get(str(owner), Account(owner))

    async def save(self, account: Account) -> bool:
        if self.die == "before":
            raise Crash
        if self.accounts.get(str(account.owner), Account(account.owner)).version != account.version:
            return False
        self.accounts[str(account.owner)] = replace(account, version=account.version + 1)
        if self.die == "after":
            raise Crash
        return True

    async def due_owners(self, wall_time: datetime, market_time: datetime) -> list[Owner]:
        return [account.owner for account in self.accounts.values()]

    async def archive(self, owner: Owner, orders: Any) -> None:
        self.archive_ |= {order.id: order for order in orders}

    async def archived(self, owner: Owner, limit: int, symbol: str | None) -> list[Any]:
        return list(self.archive_.values())

    async def archived_orders(self, owner: Owner, order_ids: Sequence[str]) -> dict[str, Any]:
        return {order_id: self.archive_[order_id] for order_id in order_ids if order_id in self.archive_}

    async def forget(self, owner: Owner) -> int:
        return 0

    async def forget_company(self, company: str) -> int:
        return 0


class Desk:
    """A whole replica with a market that the test moves."""

    def __init__(self, provider: ScriptedProvider, store: AccountStore | None = None) -> None:
        self.provider = provider
        self.clock = FakeClock()
        self.language = "en"
        self.published = PublishedFacts()
        self.memory = MemoryAccounts({}, {})
        self.paper_trading = PaperTrading(store or self.memory, provider, self.published.publish, self.clock)
        self.actions = ActionMethods(provider, self.paper_trading, self.clock)
        self.tools = {
            method.subject.split(".")[2]: handler
            for method, handler in user_tools(provider, self.paper_trading, self.clock)
        }

    async def call(self, tool: str, call_id: str = "c1", user: str | None = "ann", **arguments: Any) -> dict[str, Any]:
        caller = Caller(
            company_id="demo", user_id=user, role="user", plan="pro", conversation_id="talk", language=self.language
        )
        request = ToolServiceRequest(call_id=call_id, tool=tool, arguments=arguments, caller=caller)
        return (await self.tools[tool](request)).result

    async def order(self, side: str = "buy", call_id: str = "c1", **more: Any) -> str:
        arguments: dict[str, Any] = {"symbol": "IBM", "quantity": 10, "order_type": "market", "side": side, **more}
        return (await self.call("create_paper_order", call_id, **arguments))["action_id"]

    async def decide(self, action: str, decision: str = "confirm", **more: Any) -> str:
        request = ActionDecideRequest.model_validate(
            {"company_id": "demo", "user_id": "ann", "action_id": action, "decision": decision, **more}
        )
        return (await self.actions.decide(request)).action.state.value

    async def bars(self, count: int = 1) -> None:
        self.provider.today += count
        await self.paper_trading.run()

    async def state(self, order: str) -> OrderState:
        account = await self.paper_trading.current(ANN)
        return next(placed.state for placed in account.orders if placed.id == order)


def market(*closes: str, splits: tuple[Split, ...] = ()) -> ScriptedProvider:
    bars = [bar(day, close, close, close, close) for day, close in enumerate(closes)]
    return ScriptedProvider({"IBM": bars}, {"IBM": splits})
