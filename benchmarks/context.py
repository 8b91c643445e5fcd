"""What does a customer's context cost, apart from waiting for others: 20 favourites, 10 positions, 500 messages?

Memory's part: everything between the answers of its stores and neighbours (stubs here) and the reply's bytes. The
agent's part: parsing the reply, composing the prompt, counting new tokens, making it fit. It measures CPU, warmed up,
as in the middle of a conversation; once with 6,000 tokens of messages, once with 100,000, and once with 100,000 in the
newest twenty alone, where all three strategies of compression apply and the rest is cut.
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
    """Returns milliseconds of CPU for a turn, on uvloop as in services: the median of nine rounds of forty turns."""
    return await asyncio.to_thread(uvloop.run, _measured())


async def _measured() -> list[Figure]:
    encodings = Encodings()
    encodings.begin(MODEL)
    await encodings.close()
    figures: list[Figure] = []
    reply = b""
    for tokens, target in TARGETS.items():
        messages = conversation(tokens)
        memory, reply = await _memory(messages)
        agent, _ = await _agent(messages, reply, encodings)
        name = f"{tokens:,} tokens"
        figures += [
            Figure(QUESTION, name, memory + agent, "ms", target, note="own work, both parts"),
            Figure(QUESTION, f"{name}: memory", memory, "ms", note=f"reply of {len(reply):,} bytes"),
            Figure(QUESTION, f"{name}: agent", agent, "ms", note="reading the reply, prompt, counts, compression"),
        ]
    max_tokens = max(TARGETS)
    agent, fitted = await _agent(conversation(max_tokens, SPOKEN), reply, encodings)
    note = f"{fitted.original_tokens:,} tokens; {'+'.join(fitted.strategies)}"
    figures.append(
        Figure(QUESTION, f"{max_tokens:,} in the newest {SPOKEN}: agent", agent, "ms", TARGETS[max_tokens], note=note)
    )
    return figures


async def _memory(messages: Sequence[MessageView]) -> tuple[float, bytes]:
    builder = contexts(messages)
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
        context = await builder.build(request)
        assert not context.missing, context.missing
        return context.to_json()

    return await _cost(turn), await turn(0)


async def _agent(messages: Sequence[MessageView], reply: bytes, encodings: Encodings) -> tuple[float, Compressed]:
    """Returns the cost, and the compressed prompt."""
    recent = tuple(
        PromptMessage(message.role is not Role.USER, message.text, message.seq) for message in messages[-SPOKEN:]
    )
    tools = tuple(
        OfferedTool(f"tool_{n}", "What it does, in a sentence or two.", "market", {"type": "object"}, "…")
        for n in range(TOOLS)
    )
    material = PromptMaterial(
        config=CompanyConfig(company_id=COMPANY),
        requester=Requester(principal="p", role="user", plan="pro", user=USER, language="en"),
        history=PromptHistory(recent),
        journal=Journal("t", MESSAGES, 0.0, 60.0),
        tools=tools,
        last=False,
        time_limit=60,
    )

    async def turn(number: int) -> Compressed:
        # Each turn has a new message, whose tokens have not been counted yet.
        question = PromptMessage(False, TEXT.format(number=number), MESSAGES + 1 + number)
        context = FullContext.model_validate(orjson.loads(reply))
        history = PromptHistory((*recent[1:], question))
        turn = replace(material, history=history, context=context)
        return (await prompt_for(Composer(turn), encodings, MODEL, MODEL_WINDOW))[1]

    return await _cost(turn), await turn(0)


async def _cost(turn: Callable[[int], Awaitable[object]]) -> float:
    number = 0
    costs: list[float] = []
    gc.collect()
    for _ in range(ROUNDS + 1):
        started = time.process_time()
        for _ in range(RUNS):
            number += 1
            await turn(number)
        costs.append((time.process_time() - started) / RUNS * 1e3)
        await asyncio.sleep(0)
    return median(costs[1:])
