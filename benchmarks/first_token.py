"""How much does Nexus add around the model to the first token, and what does a turn cost in CPU?

The whole stack, as `nexus up` starts it, answers one conversation over a real websocket; the model is the scripted
server, whose own time is measured there and taken off. Company settings: no delay before answering.
"""

import tempfile
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.scripted_model.script import Reply, Rule, ScriptedCall
from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks import cpu
from benchmarks.report import Figure, median, percentile
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

QUESTION = "overhead around the model"
COMPANY = "bench"
TURNS, WARM_UP = 400, 50
SERVICES = ("gateway", "agent", "tool-executor", "memory", "market-adapter")
SERVERS = ("nats", "redis", "mongodb")
BURST = Reply(tokens=20)
PACED = Reply(tokens=100, token_ms=10)
CALL = Reply(tool_calls=[ScriptedCall(name="get_price", arguments={"symbol": "AAPL"})])


@dataclass(frozen=True, slots=True)
class Turn:
    """Seconds that Nexus added to the first token, after the model's own time was taken off."""

    overhead: float


async def run() -> list[Figure]:
    """All figures; about half a minute."""
    async with scripted_model(default=BURST) as model, _stack(model) as stack:
        plain, plain_cpu, server_cpu = await _measure(stack, model, TURNS)
        _, paced_cpu, _ = await _measure(stack, model, 20, default=PACED)
        tool, tool_cpu, _ = await _measure(
            stack, model, TURNS, Rule(match="price", replies=[CALL, BURST], again=True), default=BURST
        )
    ms = [turn.overhead * 1000 for turn in plain]
    with_tool = [turn.overhead * 1000 for turn in tool]
    return [
        Figure(QUESTION, "to the first token, p50", median(ms), "ms", 1.5),
        Figure(QUESTION, "to the first token, p99", percentile(ms, 0.99), "ms", 3),
        Figure(QUESTION, "with one tool call, p50", median(with_tool), "ms", 2.5),
        Figure(QUESTION, "with one tool call, p99", percentile(with_tool, 0.99), "ms", 5),
        Figure(QUESTION, "CPU a turn, 20-token burst", plain_cpu * 1000, "ms", 1.0, note="five services"),
        Figure(QUESTION, "CPU a turn, 100 tokens at 10 ms", paced_cpu * 1000, "ms", 5, note="five services"),
        Figure(QUESTION, "CPU a turn with a tool call", tool_cpu * 1000, "ms", note="five services"),
        Figure(QUESTION, "CPU a turn of the servers, burst", server_cpu * 1000, "ms", note="nats, redis, mongodb"),
    ]


async def _measure(
    stack: RunningStack, model: ScriptedModel, turns: int, *rules: Rule, default: Reply = BURST
) -> tuple[list[Turn], float, float]:
    """Turns one after the other, each conversation new after 15; CPU seconds a turn of services and of servers."""
    model.say(*rules, default=default)
    measured: list[Turn] = []
    calls = 2 if rules else 1
    services = [stack.process(name).pid for name in SERVICES]
    servers = [stack.process(name).pid for name in SERVERS]
    before = (0.0, 0.0)
    warm_up = min(WARM_UP, turns)
    while len(measured) < turns + warm_up:
        user = f"u{len(measured)}-{time.monotonic_ns()}"
        async with ChatClient(stack.url, stack.mint("user", user, COMPANY)) as client:
            await client.hello(locale="en")
            for _ in range(15):
                if len(measured) == warm_up:
                    before = (cpu.seconds(services), cpu.seconds(servers))
                measured.append(await _turn(client, model, calls))
    counted = len(measured) - warm_up
    spent = (cpu.seconds(services) - before[0], cpu.seconds(servers) - before[1])
    return measured[warm_up:], spent[0] / counted, spent[1] / counted


async def _turn(client: ChatClient, model: ScriptedModel, calls: int) -> Turn:
    asked = len(model.asked)
    mark = len(client.frames)
    began = time.monotonic()
    await client.send_frame("message.send", clientMessageId=str(uuid.uuid4()), text="what is the price of AAPL?")
    await client.wait_for("message.delta", after=mark)
    first = time.monotonic()
    await client.wait_for("run.finished", after=mark)
    own = sum(seen["firstAt"] - seen["at"] for seen in model.asked[asked : asked + calls])
    return Turn(first - began - own)


@asynccontextmanager
async def _stack(model: ScriptedModel) -> AsyncGenerator[RunningStack]:
    env = {
        "NEXUS_LLM_BASE_URL": model.base_url,
        "NEXUS_LLM_API_KEY": "not-a-key",
        "NEXUS_LLM_MODEL": "scripted",
        "NEXUS_SAMPLE_SECONDS_PER_BAR": "0",
    }
    with tempfile.TemporaryDirectory() as folder:
        stack = RunningStack(Path(folder) / "data", env)
        stack.start()
        try:
            await stack.create_company(
                COMPANY,
                aiAutoResponseEnabled=True,
                responseDelayMs=0,
                toolConfig={"enabledTools": ["get_price"]},
            )
            yield stack
        finally:
            stack.stop()
