"""What turns may spend, on a real bus with a scripted model: reserved, settled, recorded; what follows when spent."""

import asyncio
from typing import Any

import pytest

from agent.adapters.budgets import MemoryBudgets
from agent.adapters.price_table import prices
from agent.adapters.usage_facts import UsageBook
from agent.domain.cost import ModelUse, Reservation, SpendingAccount, estimated_tokens
from agent.domain.local_budgets import LocalBudgets
from agent.domain.turn.journal import TokenCount
from agent.errors import BudgetSpentError
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.settings import ModelSettings
from agent.testing.company import COMPANY, demo_config
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import Stage, agent, stage
from contracts.agent_rpc import SUGGEST, SuggestRequest
from contracts.channels import ChatKind
from contracts.company import Budget
from contracts.events.tool import ToolCallRequested, ToolMetadata, ToolResult
from contracts.providers import KEYED
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.testing.servers import NatsServer, eventually


def spender(**budget: Any) -> Any:
    return demo_config(budget=Budget(**budget), max_response_tokens=50)


def settled(scene: Stage) -> set[str]:
    return {request.reservation_id for request in scene.settled}


async def test_every_model_call_is_reserved_settled_and_recorded(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[ScriptedCall(name="fetch_page", arguments={"path": "/"})], prompt_tokens=100),
            ScriptedReply(text="Three words only.", prompt_tokens=200),
        ]
    )
    async with scripted_stage(nats_server.url, rule, config=spender(daily_tokens=9_000)) as (scene, _model):
        scene.executor.offer("fetch_page", {"url": "https://d.test/", "title": "t", "text": "x", "truncated": False})
        await scene.visitor("c1", "hi")
        await scene.answered("c1")
        (fact,) = await scene.usage(1)
        assert fact["usage"] == {"promptTokens": 300, "completionTokens": 3}
        assert fact["turnId"] == (await scene.answers("c1"))[0]["turnId"]
        assert (fact["userId"], fact["conversationId"], fact["purpose"]) == ("visitor-1", "c1", "turn")
        assert "cost" not in fact, "a model that the price list does not know has no price"
        await eventually(lambda: len(scene.settled) == 2)
        assert [request.used for request in scene.settled] == [303, 0]
        assert [r.reservation_id for r in scene.settled] == [r.reservation_id for r in scene.reserved]
        assert {(r.payer, r.daily_tokens, r.hourly_tokens) for r in scene.reserved} == {("visitor-1", 9_000, 50_000)}
        assert all(r.tokens >= 50 for r in scene.reserved)


async def test_a_call_whose_tools_take_long_is_told_of_by_itself(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.adapters.usage_facts.NEXT_CALL_SECONDS", 0.05)
    look = ScriptedReply(tool_calls=[ScriptedCall(name="fetch_page", arguments={"path": "/"})], prompt_tokens=100)
    rule = Rule(replies=[look, ScriptedReply(text="Three words only.", prompt_tokens=200)])
    async with scripted_stage(nats_server.url, rule, config=spender(daily_tokens=9_000)) as (scene, _model):
        scene.executor.offer("fetch_page", {})
        told = asyncio.Event()

        async def slow(request: ToolCallRequested) -> ToolResult:
            await scene.usage(1)
            told.set()
            return ToolResult(success=True, data={}, metadata=ToolMetadata(execution_time=1.0))

        scene.executor.tools["fetch_page"] = slow
        await scene.visitor("c1", "hi")
        await scene.answered("c1")
        assert told.is_set()
        facts = await scene.usage(2)
        assert [fact["usage"]["promptTokens"] for fact in facts] == [100, 200]
        await eventually(lambda: [request.used for request in scene.settled] == [100, 203])


async def test_a_call_that_asks_for_tools_has_the_next_ones_tokens_with_its_own(nats_server: NatsServer) -> None:
    look = ScriptedReply(tool_calls=[ScriptedCall(name="fetch_page", arguments={"path": "/"})], prompt_tokens=100)
    said = ScriptedReply(text="Three words only.", prompt_tokens=200)
    async with scripted_stage(
        nats_server.url,
        Rule(match="look", replies=[look, said], again=True),
        default=said,
        config=spender(daily_tokens=900_000),
    ) as (scene, _model):
        scene.executor.offer("fetch_page", {})
        scene.reserves_further = True
        for number, text in enumerate(("look", "hello"), 1):
            await scene.visitor("c1", text)
            await scene.answered("c1", number)
        with_tools, plain = await scene.usage(2)
        assert len(scene.reserved) == 2
        for request, fact, used in zip(scene.reserved, (with_tools, plain), (303, 203), strict=True):
            assert request.further is not None
            held = {fact["reservation"]["id"]: fact["reservation"]["tokens"]}
            held |= {one["id"]: one["tokens"] for one in fact["further"]}
            assert held == {
                request.reservation_id: request.tokens,
                request.further.reservation_id: request.further.tokens,
            }
            assert sum(fact["usage"].values()) == used
        await eventually(lambda: [request.used for request in scene.settled] == [303, 0, 203, 0])


async def test_tokens_of_a_next_call_that_is_not_made_are_given_back(nats_server: NatsServer) -> None:
    look = ScriptedReply(tool_calls=[ScriptedCall(name="fetch_page", arguments={"path": "/"})], prompt_tokens=100)
    async with scripted_stage(nats_server.url, default=look, config=spender(daily_tokens=900_000)) as (scene, _model):
        scene.reserves_further = True

        async def taken_over(request: ToolCallRequested) -> ToolResult:
            await scene.take("c1")
            return ToolResult(success=True, data={}, metadata=ToolMetadata(execution_time=1.0))

        scene.executor.tools["fetch_page"] = taken_over
        await scene.visitor("c1", "hi")
        (fact,) = await scene.usage(1)
        await scene.idle()
        await eventually(lambda: len(scene.settled) == 2)
        (request,) = scene.reserved
        assert request.further is not None
        assert {one.reservation_id: one.used for one in scene.settled} == {
            request.reservation_id: 100,
            request.further.reservation_id: 0,
        }
        assert "further" not in fact


async def test_an_agent_that_ends_tells_what_waits_for_a_next_call(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        lost: list[int] = []
        book = UsageBook(scene.publisher, prices(), lambda _, used: lost.append(used))
        account = SpendingAccount(COMPANY, "c1", turn_id="t" * 32)
        cheap, dear = ("groq", "llama-3.3-70b-versatile"), ("openai", "unknown")
        for provider, model in (cheap, dear, cheap):
            book.record(ModelUse(account, provider, model, TokenCount(1_000, 2), requested_tools=True))
        await book.flush(5.0)
        facts = {fact["provider"]: fact for fact in await scene.usage(2)}
        assert facts["groq"]["usage"] == {"promptTokens": 2_000, "completionTokens": 4}
        assert facts["groq"]["cost"] == pytest.approx(2 * prices()[cheap].cost(TokenCount(1_000, 2)))
        assert ("cost" in facts["openai"], lost) == (False, [])


async def test_a_known_model_has_its_price_and_the_day_of_it(nats_server: NatsServer) -> None:
    async with (
        stage(nats_server.url, spender()) as scene,
        scripted_model(default=ScriptedReply(text="one two", prompt_tokens=1_000)) as model,
    ):
        keys = ModelSettings.model_validate(
            {"base_url": None, "provider_keys": {"groq": "g"}, "provider_addresses": {"groq": model.base_url}}
        )
        async with agent(nats_server.url, models=keys):
            await scene.visitor("c1", "hi")
            (fact,) = await scene.usage(1)
        price = prices()["groq", "llama-3.3-70b-versatile"]
        assert fact["cost"] == pytest.approx(price.cost(TokenCount(1_000, 2)))
        assert (fact["currency"], fact["pricedOn"]) == ("USD", price.as_of.isoformat())


async def test_a_call_that_broke_off_is_billed_by_estimate_and_one_that_said_nothing_is_not(
    nats_server: NatsServer,
) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(text="one two three", cut_after=2),
            ScriptedReply(status=500),
            ScriptedReply(text="whole answer"),
        ]
    )
    async with scripted_stage(
        nats_server.url, rule, default=ScriptedReply(text="whole answer", prompt_tokens=5), config=spender()
    ) as (scene, _model):
        await scene.visitor("c1", "hi")
        await scene.answered("c1")
        facts = await scene.usage(2)
        assert facts[0]["estimated"] is True
        assert facts[0]["usage"]["completionTokens"] == estimated_tokens(len("one two"), 0)
        await eventually(lambda: len(scene.settled) == len(scene.reserved))
        assert [request.used == 0 for request in scene.settled][:2] == [False, True]


async def test_where_no_limit_counts_nobody_is_asked(nats_server: NatsServer) -> None:
    config = spender().model_copy(update={"ai_auto_response_enabled": False})
    async with scripted_stage(
        nats_server.url, default=ScriptedReply(text='["a", "b", "c"]', prompt_tokens=9), config=config
    ) as (scene, _model):
        await scene.visitor("c1", "hi")
        await RpcClient(scene.nats).call(SUGGEST, SuggestRequest(company_id=COMPANY, conversation_id="c1"))
        (fact,) = await scene.usage(1)
        assert (fact["purpose"], fact["conversationId"]) == ("suggest", "c1")
        assert "userId" not in fact
        assert len(scene.reserved) + len(scene.settled) == 0


async def spent(scene: Stage, text: str = "hi") -> dict[str, Any]:
    """A visitor writes with no budget left; what the conversation reads."""
    await scene.visitor("c1", text)
    (message,) = await scene.answered("c1")
    await scene.idle()
    return message


async def test_a_spent_budget_says_the_companys_text(nats_server: NatsServer) -> None:
    config = spender(daily_tokens=0, when_spent="text", fallback_text="Write to us at help@demo.test.")
    async with scripted_stage(nats_server.url, config=config) as (scene, model):
        message = await spent(scene)
        assert (message["code"], message["text"]) == ("BUDGET_SPENT", "Write to us at help@demo.test.")
        assert scene.told("run.error")[0]["code"] == "BUDGET_SPENT"
        assert model.asked == []
        assert [kind for kind, _, _ in await scene.facts("c1")] == [ChatKind.VISITOR, ChatKind.SYSTEM]


async def test_a_spent_budget_asks_for_a_person_once(nats_server: NatsServer) -> None:
    config = spender(daily_tokens=0, when_spent="handoff")
    async with scripted_stage(nats_server.url, config=config) as (scene, _model):
        message = await spent(scene)
        assert message["code"] == "BUDGET_SPENT"
        assert "person" in message["text"]
        *_, (kind, _, data) = await scene.facts("c1")
        assert (kind, data["owner"]["kind"], data["by"], data["reason"]) == (
            ChatKind.OWNER,
            "waiting",
            "agent",
            "budget_spent",
        )
        # Given back, it is not asked for again: the message is settled.
        await scene.release("c1")
        await scene.idle()
        kinds = [kind for kind, _, _ in await scene.facts("c1")]
        assert kinds == [ChatKind.VISITOR, ChatKind.SYSTEM, ChatKind.OWNER, ChatKind.OWNER]


async def test_what_was_written_to_a_person_who_gave_it_back_asks_for_a_person_again(nats_server: NatsServer) -> None:
    config = spender(daily_tokens=0, when_spent="handoff")
    async with scripted_stage(nats_server.url, config=config) as (scene, _model):
        await scene.take("c1")
        await scene.visitor("c1", "hi")
        await scene.release("c1")
        (message,) = await scene.answered("c1")
        assert "I have asked the team" in message["text"]
        await scene.idle()
        *_, (kind, _, data) = await scene.facts("c1")
        assert (kind, data.get("reason")) == (ChatKind.OWNER, "budget_spent")
        assert data["summary"][0] == "Asked: «hi»"
        await scene.release("c1")
        await scene.idle()
        kinds = [kind for kind, _, _ in await scene.facts("c1")]
        assert kinds[-3:] == [ChatKind.SYSTEM, ChatKind.OWNER, ChatKind.OWNER]


async def test_a_cheaper_model_goes_on_until_its_own_purse_is_empty(nats_server: NatsServer) -> None:
    config = spender(
        daily_tokens=1, visitor_hourly_tokens=None, when_spent="cheaper_model", cheaper_model="small", fallback_text="x"
    )
    async with scripted_stage(nats_server.url, config=config) as (scene, model):
        for number in range(3):
            await scene.visitor(f"c{number}", "hi")
            await scene.answered(f"c{number}")
        assert [asked["model"] for asked in model.asked] == ["scripted", "small"]
        assert [(await scene.answers(f"c{n}"))[0].get("code") for n in range(3)] == [None, None, "BUDGET_SPENT"]
        assert [request.tier for request in scene.reserved] == ["main", "main", "cheaper", "main", "cheaper"]


async def test_suggestions_are_refused_when_the_companys_budget_is_spent(nats_server: NatsServer) -> None:
    config = spender(daily_tokens=0).model_copy(update={"ai_auto_response_enabled": False})
    async with scripted_stage(nats_server.url, config=config) as (scene, model):
        await scene.visitor("c1", "hi")
        with pytest.raises(RpcError) as caught:
            await RpcClient(scene.nats).call(SUGGEST, SuggestRequest(company_id=COMPANY, conversation_id="c1"))
        assert caught.value.code == "RATE_LIMITED"
        assert "dailyTokens" in caught.value.message
        assert model.asked == []


async def test_a_reservation_that_is_no_longer_wanted_is_given_back(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stage(nats_server.url) as scene:
        budgets = MemoryBudgets(RpcClient(scene.nats), scene.nats)
        asking = asyncio.create_task(budgets.reserve(Reservation("r", COMPANY, "v1", 9, 60.0, "main", 0), 10, None))
        granting = scene.budgets.reserve

        def granted_too_late(*wanted: Any) -> Any:
            asking.cancel()
            return granting(*wanted)

        monkeypatch.setattr(scene.budgets, "reserve", granted_too_late)
        with pytest.raises(asyncio.CancelledError):
            await asking
        await eventually(lambda: [(s.reservation_id, s.reserved, s.used) for s in scene.settled] == [("r", 9, 0)])
        tasks = asyncio.all_tasks()
        budgets.settle(Reservation("r", COMPANY, "v1", 9, 60.0, "main", 0), 9)
        assert asyncio.all_tasks() == tasks, "a task that is still to begin is lost with a process that ends now"


async def test_a_superseded_call_holds_nothing(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True), ScriptedReply(text="to both", prompt_tokens=10)])
    async with scripted_stage(nats_server.url, rule, config=spender()) as (scene, model):
        await scene.visitor("c1", "one")
        await eventually(lambda: len(model.asked) == 1)
        await scene.visitor("c1", "two")
        await scene.answered("c1")
        await eventually(lambda: settled(scene) == {request.reservation_id for request in scene.reserved})
        assert [request.used for request in scene.settled if request.used] == [12]


async def test_while_memory_is_away_each_agent_keeps_the_limits_by_itself(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        await scene.stop()
        budgets = MemoryBudgets(RpcClient(scene.nats), scene.nats)
        wanted = Reservation("r", COMPANY, "v1", 100, 60.0, "main", 0)
        outcomes = await asyncio.gather(
            *(budgets.reserve(wanted, 1_000, None) for _ in range(64)), return_exceptions=True
        )
        assert sum(isinstance(outcome, Reservation) for outcome in outcomes) == 10
        assert sum(isinstance(outcome, BudgetSpentError) for outcome in outcomes) == 54


def test_limits_kept_alone_go_by_the_day_the_hour_and_the_visitor() -> None:
    local = LocalBudgets()
    assert local.reserve("a", "v1", "main", 10, None, 10, 0) is None
    assert local.reserve("a", "v1", "main", 10, None, 10, 3_599) == "visitor"
    assert local.reserve("a", "v1", "main", 10, None, 10, 3_600) is None
    assert local.reserve("a", "v2", "main", 10, 20, 10, 3_600) == "company"
    assert local.reserve("a", "v2", "cheaper", 10, 20, 10, 3_600) is None
    assert local.reserve("a", "v2", "main", 10, 20, 10, 86_400) is None


def test_every_listed_model_has_a_price_with_its_day() -> None:
    table = prices()
    assert {(p.name, m.name) for p in KEYED.values() for m in p.models} <= set(table)
    assert all(price.prompt > 0 and price.completion > 0 and price.currency == "USD" for price in table.values())
