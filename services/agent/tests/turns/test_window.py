"""What the model is really sent: inside the window whatever is said, with what is known, and with a summary later."""

from datetime import UTC, datetime
from typing import Any

from agent.adapters.encodings import load
from agent.domain.context.tokens import Counter
from agent.metrics import COMPRESSION
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import Stage, agent, stage
from contracts.context_rpc import ContextMarket, FullContext, RelevantSymbol
from contracts.conversation_rpc import HistoryMessage
from contracts.events.chat import Role
from runtime.testing.servers import NatsServer, eventually

ANA = "user/pro/ana"
LONG = "figure 12.5, " * 380
"""About 1,900 tokens."""
SUM = Rule(match="earlierSummary", replies=[ScriptedReply(text="They hold AAPL; TSLA was sold at 300.")], again=True)


def tokens(asked: dict[str, Any]) -> int:
    return Counter(lambda text: len(load("o200k_base").encode_ordinary(text))).messages(asked["messages"])


def summed_up() -> float:
    (metric,) = COMPRESSION.collect()
    samples = [sample.value for sample in metric.samples if sample.labels.get("strategy") == "summarize_conversation"]
    return samples[0] if samples else 0.0


async def talk(scene: Stage, *texts: str, principal: str = ANA, conversation: str = "c1") -> None:
    for text in texts:
        before = len(await scene.answers(conversation))
        await scene.visitor(conversation, text, principal=principal)
        await scene.answered(conversation, before + 1)
        await scene.idle()
        remember(scene, await scene.facts(conversation))


def remember(scene: Stage, facts: list[Any]) -> None:
    """What memory would have of the conversation."""
    roles = {"visitor": Role.USER, "assistant": Role.ASSISTANT}
    scene.copilot.messages = [
        HistoryMessage(
            id=data["messageId"], seq=seq, role=roles[kind.short], text=data["text"], created_at=datetime.now(UTC)
        )
        for kind, seq, data in facts
        if kind.short in roles
    ]


async def test_a_customers_prompt_holds_their_context(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        market = ContextMarket(relevant_symbols=[RelevantSymbol(symbol="AAPL", price=182.5, change_percent=1.25)])
        scene.copilot.context = FullContext(market=market, missing=["portfolio"])
        await talk(scene, "what about AAPL?")
        system = model.asked[0]["messages"][0]["content"]
        assert "- Plan: pro" in system
        assert "- AAPL: 182.50 (+1.25%)" in system
        assert "Not available right now: the portfolio" in system
        (request,) = scene.copilot.asked
        assert (request.user_id, request.text, request.plan) == ("ana", "what about AAPL?", "pro")


async def test_without_the_context_the_turn_goes_on(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        scene.copilot.away = True
        await talk(scene, "hello")
        assert "Not available right now" in model.asked[0]["messages"][0]["content"]


async def test_a_visitors_long_conversation_stays_inside_the_window(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await talk(scene, "I sold 40 TSLA at 300.", *([LONG] * 7), principal="visitor/free/v1")
        newest = model.asked[-1]
        assert 2_000 < tokens(newest) <= 8_000
        assert newest["messages"][-1]["content"] == LONG
        assert "Summary of what was said before:" in newest["messages"][0]["content"]
        assert "TSLA" in newest["messages"][0]["content"]
        assert scene.copilot.asked == []


async def test_a_huge_result_is_cut_visibly_and_its_call_stays(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments={})]), ScriptedReply(text="Seen.")]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        scene.executor.offer("look", {"text": "figure 12.5 " * 4_000})
        await talk(scene, "look at everything")
        second = model.asked[1]
        assert 7_000 < tokens(second) <= 8_000
        assert "characters left out" in second["messages"][-1]["content"]
        assert second["messages"][-2]["tool_calls"][0]["id"] == second["messages"][-1]["tool_call_id"]


async def test_the_summary_is_made_after_the_turn_kept_and_extended(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, SUM) as (scene, model):
        counted = summed_up()
        await talk(scene, "I sold 40 TSLA at 300.", *([LONG] * 6))
        await eventually(lambda: len(scene.copilot.summaries) >= 1)
        first = scene.copilot.summaries[0]
        assert first.text == "They hold AAPL; TSLA was sold at 300."
        # The next prompts have it, and what it covers is not said again.
        await talk(scene, "and now?")
        # Summaries are asked for in between, whenever a turn before was long enough.
        (asked,) = (one for one in model.asked if one["messages"][-1]["content"] == "and now?")
        assert "- Summary: They hold AAPL; TSLA was sold at 300." in asked["messages"][0]["content"]
        assert tokens(asked) < 8_000
        assert sum("I sold 40 TSLA" in str(message["content"]) for message in asked["messages"]) == 0
        await talk(scene, *([LONG] * 5))
        await eventually(lambda: len(scene.copilot.summaries) > 1)
        second = scene.copilot.summaries[-1]
        assert second.up_to_seq > first.up_to_seq
        assert second.messages > first.messages
        made = [asked for asked in model.asked if "earlierSummary" in str(asked["messages"][-1]["content"])]
        assert '"earlierSummary": "They hold AAPL; TSLA was sold at 300."' in made[1]["messages"][-1]["content"]
        assert "I sold 40 TSLA" not in made[1]["messages"][-1]["content"]
        assert summed_up() > counted


async def test_without_a_model_the_summary_is_made_by_rules(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        await talk(scene, "I sold 40 TSLA at 300.", *([LONG] * 6))
        await eventually(lambda: len(scene.copilot.summaries) >= 1)
        assert "TSLA" in scene.copilot.summaries[0].text
        assert len(scene.copilot.summaries[0].text.split()) <= 100


async def test_rules_read_the_whole_conversation_however_long_it_is(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        await talk(scene, "I sold 40 TSLA at 300.", *([LONG] * 6))
        said = [data["text"] for kind, _, data in await scene.facts("c1") if kind.short == "assistant"]
        # That no model answers is said once, in the first answer, which has to be known in the last.
        notices = [text for text in said if "without a language model" in text or "sin un modelo de lenguaje" in text]
        assert (len(said), notices) == (7, said[:1])
