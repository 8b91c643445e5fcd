"""What does a customer's context cost, beside waiting for others: 20 favourites, 10 positions, 500 messages?

Memory's part: everything between the answers of its stores and neighbours (at hand here) and the reply's bytes. The
agent's: reading the reply, composing the prompt, counting what is new, making it fit. By the processor's clock, warm,
as in the middle of a conversation; once with 6,000 tokens of messages, once with 100,000, and once with 100,000 in the
newest twenty alone, where all three strategies of compression work and what is left is cut.
"""

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import orjson
import uvloop

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import Compressed, PromptMessage
from agent.domain.offered_tool import OfferedTool
from agent.domain.turn.journal import Journal
from agent.ports import PromptHistory, Requester
from agent.turns.composer import PROMPT_MESSAGES as SPOKEN
from agent.turns.composer import Composer, PromptMaterial, prompt_for
from benchmarks.report import Figure, median
from benchmarks.stubs import COMPANY, CONVERSATION, MESSAGES, TOOLS, USER, contexts, conversation
from contracts.company import CompanyConfig
from contracts.context_rpc import ContextRequest, FullContext
from contracts.conversation_rpc import MessageView
from contracts.events.chat import Role

QUESTION = "context"
TARGETS = {6_000: 0.5, 100_000: 2.0}
ROUNDS, RUNS = 9, 40
MODEL, MODEL_WINDOW = "gpt-4o-mini", 128_000
TEXT = "Compare the last two quarters of AAPL with MSFT: what changed in margins and in cash, number {number}?"


async def run() -> list[Figure]:
    """Milliseconds of CPU a turn, on uvloop as services run: the median of nine rounds of forty turns."""
    return await asyncio.to_thread(uvloop.run, _measured())


async def _measured() -> list[Figure]:
    encodings = Encodings()
    encodings.begin(MODEL)
    await encodings.close()
    figures: list[Figure] = []
    reply = b""
    for tokens, target in TARGETS.items():
        said = conversation(tokens)
        memory, reply = await _memory(said)
        agent, _ = await _agent(said, reply, encodings)
        name = f"{tokens:,} tokens"
        figures += [
            Figure(QUESTION, name, memory + agent, "ms", target, note="own work, both parts"),
            Figure(QUESTION, f"{name}: memory", memory, "ms", note=f"reply of {len(reply):,} bytes"),
            Figure(QUESTION, f"{name}: agent", agent, "ms", note="reading the reply, prompt, counts, compression"),
        ]
    most = max(TARGETS)
    agent, fitted = await _agent(conversation(most, SPOKEN), reply, encodings)
    note = f"{fitted.original_tokens:,} tokens; {'+'.join(fitted.strategies)}"
    figures.append(Figure(QUESTION, f"{most:,} in the newest {SPOKEN}: agent", agent, "ms", TARGETS[most], note=note))
    return figures


async def _memory(said: Sequence[MessageView]) -> tuple[float, bytes]:
    builder = contexts(said)
    request = ContextRequest(
        company_id=COMPANY,
        conversation_id=CONVERSATION,
        user_id=USER,
        plan="pro",
        language="en",
        text=TEXT.format(number=0),
        up_to_seq=MESSAGES,
        limit=1,
        agent_version="1.0",
    )

    async def turn(_: int) -> bytes:
        return (await builder.build(request)).to_json()

    return await _cost(turn), await turn(0)


async def _agent(said: Sequence[MessageView], reply: bytes, encodings: Encodings) -> tuple[float, Compressed]:
    """The cost, and what became of the prompt."""
    spoken = tuple(PromptMessage(one.role is not Role.USER, one.text, one.seq) for one in said[-SPOKEN:])
    tools = tuple(
        OfferedTool(f"tool_{n}", "What it does, in a sentence or two.", "market", {"type": "object"}, "…")
        for n in range(TOOLS)
    )
    material = PromptMaterial(
        config=CompanyConfig(company_id=COMPANY),
        requester=Requester(principal="p", role="user", plan="pro", user=USER, language="en"),
        history=PromptHistory(spoken),
        journal=Journal("t", MESSAGES, 0.0, 60.0),
        tools=tools,
        last=False,
        time_limit=60,
    )

    async def turn(number: int) -> Compressed:
        # Each turn has a message of its own that nobody has counted yet.
        asked = PromptMessage(False, TEXT.format(number=number), MESSAGES + 1 + number)
        context = FullContext.model_validate(orjson.loads(reply))
        history = PromptHistory((*spoken[1:], asked))
        turn = replace(material, history=history, context=context)
        return (await prompt_for(Composer(turn), encodings, MODEL, MODEL_WINDOW))[1]

    return await _cost(turn), await turn(0)


async def _cost(turn: Callable[[int], Awaitable[object]]) -> float:
    number = 0
    costs: list[float] = []
    gc.collect()
    for _ in range(ROUNDS + 1):
        began = time.process_time()
        for _ in range(RUNS):
            number += 1
            await turn(number)
        costs.append((time.process_time() - began) / RUNS * 1e3)
        await asyncio.sleep(0)
    return median(costs[1:])
