"""Turns end to end, on a real bus with a scripted model over real HTTP."""

import gc

import orjson

from agent.domain.offline.answers import NOTICE
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.testing.company import COMPANY
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from agent.turns.driver import TurnDriver
from contracts import channels
from contracts.channels import ChatKind
from contracts.events.tool import ToolCallRequested, ToolMetadata, ToolResult
from runtime.bus.direct import DirectReader
from runtime.testing.servers import NatsServer, eventually


async def test_a_visitor_is_answered(nats_server: NatsServer) -> None:
    async with scripted_stage(
        nats_server.url, default=ScriptedReply(text="Hello there, friend.", prompt_tokens=12)
    ) as (scene, _model):
        seq = await scene.visitor("c1", "hi")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "Hello there, friend."
        assert answer["basis"] == seq
        assert answer["usage"] == {"promptTokens": 12, "completionTokens": 3}
        assert (answer["model"], answer["configVersion"]) == ("scripted", 1)
        await scene.idle()
        assert "".join(d["delta"] for d in scene.told("message.delta")) == answer["text"]
        assert [d["deltaSeq"] for d in scene.told("message.delta")] == list(range(len(scene.told("message.delta"))))
        assert len(scene.told("run.started")) == len(scene.told("run.finished")) == 1
        assert scene.told("run.started")[0]["messageId"] == answer["messageId"]
        stored = await DirectReader(scene.nats, "CHAT").next(channels.chat(COMPANY, "c1", ChatKind.ASSISTANT), 1)
        assert stored is not None
        assert orjson.loads(stored.event)["time"].endswith("Z")


def drives() -> set[int]:
    """All there are in this process, by identity."""
    return {id(object) for object in gc.get_objects() if type(object) is TurnDriver}


async def test_a_turn_that_is_over_leaves_nothing_to_the_garbage_collector(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, default=ScriptedReply(text="Hello.")) as (scene, _model):
        gc.collect()
        gc.disable()
        before = drives()
        try:
            await scene.visitor("c1", "hi")
            await scene.answered("c1")
            await scene.idle()
            await eventually(lambda: drives() <= before)
        finally:
            gc.enable()


async def test_the_model_uses_a_tool_and_the_page_is_cited(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[ScriptedCall(name="fetch_page", arguments={"path": "/pricing"})]),
            ScriptedReply(text="Pro is 29 USD."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        page = {"url": "https://demo.test/pricing", "title": "Prices", "text": "Pro: 29 USD", "truncated": False}
        scene.executor.offer("fetch_page", page)
        await scene.visitor("c1", "what does Pro cost?")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "Pro is 29 USD."
        assert answer["citations"] == [{"url": "https://demo.test/pricing", "title": "Prices"}]
        second = model.asked[1]["messages"]
        assert second[-2]["tool_calls"][0]["function"]["name"] == "fetch_page"
        assert "data, not instructions" in second[-1]["content"]
        assert scene.told("tool.started")[0]["label"] == "Using fetch_page: /pricing"
        assert scene.told("tool.finished")[0]["success"] is True


async def test_a_tool_that_takes_longer_than_the_first_request_is_waited_for_runs_once_in_one_turn(
    nats_server: NatsServer,
) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[ScriptedCall(name="fetch_page", arguments={"path": "/pricing"})]),
            ScriptedReply(text="Pro is 29 USD."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):

        async def slow(request: ToolCallRequested) -> ToolResult:
            await eventually(lambda: scene.executor.repeats)
            return ToolResult(success=True, data={"text": "29 USD"}, metadata=ToolMetadata(execution_time=4000.0))

        scene.executor.tools["fetch_page"] = slow
        await scene.visitor("c1", "what does Pro cost?")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "Pro is 29 USD."
        assert len(scene.executor.effects) == 1
        assert len(model.asked) == 2
        assert [len(scene.told(kind)) for kind in ("run.started", "tool.started", "tool.finished")] == [1, 1, 1]
        await scene.idle()


async def test_an_order_that_waits_for_a_yes_comes_with_the_answer_as_the_tool_told_it(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(
                tool_calls=[ScriptedCall(name="create_paper_order", arguments={"symbol": "IBM", "quantity": 3})]
            ),
            ScriptedReply(text="Shall I buy 5,000 IBM?"),
        ]
    )
    order = {"order_id": "o1", "symbol": "IBM", "side": "buy", "quantity": 3.0, "order_type": "market"}
    made = {
        "action_id": "o1",
        "status": "pending_confirmation",
        "order": order,
        "estimate": {"price": 200.0, "amount": 600.0, "cash_after": 99400.0, "currency": "USD"},
        "summary": "Comprar 3 IBM a mercado (simulado)",
        "content_hash": "ab12",
        "expires_at": "2026-01-01T13:00:00Z",
    }
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        scene.executor.offer("create_paper_order", made)
        await scene.visitor("c1", "quiero comprar 3 IBM", locale="en")
        (answer,) = await scene.answered("c1")
        (action,) = answer["actions"]
        assert (action["id"], action["kind"], action["state"]) == ("o1", "paper_order", "pending")
        assert action["summary"] == made["summary"]
        # The tool words it in the language of the call, which is the message's own and not the page's.
        assert [request.language for request in scene.executor.requests] == ["es"]
        assert action["details"]["contentHash"] == "ab12"
        assert action["expiresAt"] == made["expires_at"]


async def test_the_offline_assistant_answers_from_the_site(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        text = "# Plans and prices\n## Free\nThe Free plan costs 0 USD per month.\n## Pro\nThe Pro plan costs 29 USD."
        page = {"url": "https://demo.test/pricing", "title": "Prices", "text": text, "truncated": False}
        scene.executor.offer("fetch_page", page)
        await scene.visitor("c1", "what does the Pro plan cost?")
        (answer,) = await scene.answered("c1")
        assert "The Pro plan costs 29 USD." in answer["text"]
        assert NOTICE["en"] in answer["text"]
        assert answer["citations"][0]["url"] == "https://demo.test/pricing"
        assert answer["provider"] == "offline"


async def test_rules_look_for_what_was_said_before_in_the_same_conversation_too(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        scene.executor.offer("search_memory", {"passages": []})
        await scene.visitor("c1", "I have a flat in Leeds that I rent out", principal="user/pro/ana")
        await scene.answered("c1")
        await scene.visitor("c1", "what did I say about my flat?", principal="user/pro/ana")
        await scene.answered("c1", 2)
        (search,) = scene.executor.requests
        asked = [seq for kind, seq, _ in await scene.facts("c1") if kind is ChatKind.VISITOR][-1]
        assert search.prompt == (asked, asked)
