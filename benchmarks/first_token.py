"""How much time does Nexus add to the model's first token, and how much CPU does a turn cost?

The whole stack, as `nexus up` starts it, answers one conversation over a real websocket; the model is the scripted
server, whose own time is measured there and subtracted. The company answers without delay. Figures from a busy machine
can be compared by the calibration of the same run.
"""

import asyncio
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from benchmarks import cpu
from benchmarks.calibration import calibrate
from benchmarks.report import Figure, growth, median, percentile
from tests.support.chat_client import ChatClient
from tests.support.running_stack import NEXUS, RunningStack

QUESTION = "overhead around the model"
COMPANY = "bench"
TURNS, WARM_UP = 400, 50
SPACED_TURNS, SPACE = 60, 0.05
"""Turns and seconds between them: people pause between messages, so background work is done between turns."""
SERVICES = ("gateway", "agent", "tool-executor", "memory", "market-adapter")
SERVERS = ("nats", "redis", "mongodb")
BURST = ScriptedReply(tokens=20)
PACED = ScriptedReply(tokens=100, token_ms=10)
CALL = ScriptedReply(tool_calls=[ScriptedCall(name="get_price", arguments={"symbol": "AAPL"})])


Spent = dict[str, float]


@dataclass(frozen=True, slots=True)
class Run:
    """For each turn the milliseconds that Nexus added to the first token, without the model's own time; and the CPU
    milliseconds of each process per turn."""

    overhead: list[float]
    cpu: Spent

    def of(self, names: tuple[str, ...]) -> float:
        """Returns the CPU time per turn of these processes together."""
        return sum(self.cpu[name] for name in names)


async def run() -> list[Figure]:
    """Returns all figures; takes about half a minute."""
    async with scripted_model(default=BURST) as model, running(model) as stack:
        before = await calibrate(stack.facts()["urls"]["nats"])
        plain = await measure(stack, model, TURNS)
        spaced = await measure(stack, model, SPACED_TURNS, pause=SPACE)
        paced = await measure(stack, model, 20, default=PACED)
        tool = await measure(stack, model, TURNS, Rule(match="price", replies=[CALL, BURST], again=True), default=BURST)
        after = await calibrate(stack.facts()["urls"]["nats"])
    wait, unit = (before.wait + after.wait) / 2, (before.cpu + after.cpu) / 2
    note = "five services"
    return [
        Figure(QUESTION, "to the first token, p50", median(plain.overhead), "ms", 1.5),
        Figure(QUESTION, "to the first token, p99", percentile(plain.overhead, 0.99), "ms", 3),
        Figure(QUESTION, "with one tool call, p50", median(tool.overhead), "ms", 2.5),
        Figure(QUESTION, "with one tool call, p99", percentile(tool.overhead, 0.99), "ms", 5),
        Figure(QUESTION, "to the first token, 50 ms between turns, p50", median(spaced.overhead), "ms"),
        Figure(QUESTION, "CPU a turn, 20-token burst", plain.of(SERVICES), "ms", 1.0, note=note),
        Figure(QUESTION, "CPU a turn, 100 tokens at 10 ms", paced.of(SERVICES), "ms", 5, note=note),
        Figure(QUESTION, "CPU a turn with a tool call", tool.of(SERVICES), "ms", note=note),
        Figure(QUESTION, "CPU a turn of the servers, burst", plain.of(SERVERS), "ms", note="nats, redis, mongodb"),
        *(Figure(QUESTION, f"CPU a turn, burst: {name}", plain.cpu[name], "ms") for name in SERVICES + SERVERS),
        Figure(QUESTION, "calibration: publish and acknowledgement, p50", wait, "ms", note="bare nats-py, same run"),
        Figure(QUESTION, "calibration: CPU of the same", unit, "ms", note="bare nats-py, same run"),
        Figure(QUESTION, "CPU a turn, burst, in calibrations", plain.of(SERVICES) / unit, "×", note=note),
    ]


async def measure(
    stack: RunningStack,
    model: ScriptedModel,
    turns: int,
    *rules: Rule,
    default: ScriptedReply = BURST,
    pause: float = 0.0,
) -> Run:
    """Runs turns one after the other, with `pause` seconds between them; every 15 turns a new conversation starts."""
    model.say(*rules, default=default)
    overheads: list[float] = []
    calls = 2 if rules else 1
    spent_before: Spent = {}
    warm_up = min(WARM_UP, turns)
    while len(overheads) < turns + warm_up:
        user = f"u{len(overheads)}-{time.monotonic_ns()}"
        async with ChatClient(stack.url, stack.mint("visitor", user, COMPANY)) as client:
            await client.hello(locale="en")
            for _ in range(15):
                if len(overheads) == warm_up:
                    spent_before = spent(stack)
                overheads.append(await one_turn(client, model, calls))
                if pause:
                    await asyncio.sleep(pause)
    return Run(overheads[warm_up:], growth(spent_before, spent(stack), len(overheads) - warm_up))


def spent(stack: RunningStack) -> Spent:
    """Returns the CPU time of each process so far, in milliseconds."""
    return {name: cpu.seconds([stack.process(name).pid]) * 1000 for name in SERVICES + SERVERS}


async def one_turn(client: ChatClient, model: ScriptedModel, calls: int) -> float:
    """Runs one turn; returns the milliseconds to the first token without the model's own time."""
    calls_before = len(model.asked)
    frames_before = len(client.frames)
    started = time.monotonic()
    await client.send_frame("message.send", clientMessageId=str(uuid.uuid4()), text="what is the price of AAPL?")
    await client.wait_for("message.delta", after=frames_before)
    first_delta = time.monotonic()
    await client.wait_for("run.finished", after=frames_before)
    model_seconds = sum(call["firstAt"] - call["at"] for call in model.asked[calls_before : calls_before + calls])
    return (first_delta - started - model_seconds) * 1000


@asynccontextmanager
async def running(
    model: ScriptedModel, nexus: str = NEXUS, more: Mapping[str, str] | None = None
) -> AsyncGenerator[RunningStack]:
    """Runs the whole stack with the scripted model, as the command `nexus` starts it; `more`: further environment
    variables."""
    env = {**model.environment, "NEXUS_SAMPLE_SECONDS_PER_BAR": "0", **(more or {})}
    with tempfile.TemporaryDirectory() as folder:
        async with RunningStack(Path(folder) / "data", env, nexus) as stack:
            await stack.create_company(
                COMPANY,
                aiAutoResponseEnabled=True,
                responseDelayMs=0,
                toolConfig={"enabledTools": ["get_price"]},
                # Large enough never to be spent; tokens are reserved as usual.
                budget={"visitorHourlyTokens": 100_000_000},
            )
            yield stack
