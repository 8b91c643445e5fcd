"""What does it cost to make a prompt fit: sections, exact counts, compression?

A customer with 20 favourites and 10 positions writes one new message in a conversation that was counted before, as in a
turn. At 6k tokens nothing has to go; at 100k (500 messages, the 20 newest of them huge) all three strategies work, and
what is left is cut.
"""

import time
from dataclasses import replace
from datetime import UTC, date, datetime

from agent.adapters.encodings import Encodings
from agent.domain.context.compression import Compressed, Spoken
from agent.domain.turn.journal import Journal
from agent.ports import Asker, History, Tool
from agent.turns.prompting import Material, prompt_for
from benchmarks.report import Figure, median, percentile
from contracts.company import CompanyConfig
from contracts.context_rpc import (
    ContextConversation,
    ContextMarket,
    ContextMemory,
    ContextPortfolio,
    ContextPosition,
    ContextSystem,
    ContextUser,
    FullContext,
    RelevantSymbol,
)
from contracts.market_rpc import MarketEvent

QUESTION = "prompt"
TURNS = 300
MODEL = "gpt-4o-mini"
WORDS = [
    "the",
    "portfolio",
    "of",
    "dividend",
    "stocks",
    "rose",
    "1.25",
    "%",
    "while",
    "AAPL",
    "fell",
    "to",
    "182.52",
    "and",
    "risk",
    "stays",
    "moderate",
]
TARGETS = {6_000: 0.5, 100_000: 2.0}
"""Milliseconds, shared with the memory service's part of building the context."""


def context() -> FullContext:
    """All parts, as full as they come."""
    now = datetime(2026, 1, 5, 15, 0, tzinfo=UTC)
    names = [f"SYM{n}" for n in range(20)]
    return FullContext(
        user=ContextUser(id="u1", name="Ana", plan="pro", risk_profile="moderate", preferences=["short answers"] * 5),
        market=ContextMarket(
            status="open",
            current_time=now,
            next_open=now,
            relevant_symbols=[RelevantSymbol(symbol=name, price=100.5, change_percent=1.25) for name in names[:10]],
            upcoming_events=[
                MarketEvent(date=date(2026, 1, n + 6), name=f"event {n}", impact="high", kind="economy", source="s")
                for n in range(10)
            ],
        ),
        portfolio=ContextPortfolio(
            positions=[
                ContextPosition(symbol=name, quantity=10, average_price=99.5, price=100.5) for name in names[:10]
            ],
            cash=50_000.0,
            equity=60_050.0,
        ),
        alerts=[],
        conversation=ContextConversation(id="c", up_to_seq=500, recent_topics=["RSI"], mentioned_symbols=names[:10]),
        memory=ContextMemory(favorite_symbols=names, trading_style="swing", user_notes=["a house in 2030"] * 5),
        system=ContextSystem(current_date=date(2026, 1, 5), current_time="09:00", agent_version="0"),
    )


def history(messages: int, words: int) -> History:
    """So many messages, the 20 newest of so many words, no two alike."""
    sizes = [words if n >= messages - 20 else 40 for n in range(messages)]
    said = [" ".join(WORDS[(n + i) % len(WORDS)] for i in range(size)) + f" {n}" for n, size in enumerate(sizes)]
    return History(tuple(Spoken(n % 2 == 1, text, n + 1) for n, text in enumerate(said)))


async def turns(material: Material, encodings: Encodings) -> tuple[list[float], Compressed]:
    """Milliseconds of the processor for each turn, and the last one's outcome."""
    used: list[float] = []
    done: Compressed | None = None
    for number in range(-5, TURNS):
        said = material.history.messages
        text = " ".join(WORDS[(number + i) % len(WORDS)] for i in range(40)) + f" new {number}"
        turn = replace(material, history=History((*said[1:], Spoken(False, text, len(said) + 1))))
        began = time.process_time()
        _, done = await prompt_for(turn, encodings, MODEL, 128_000)
        if number >= 0:
            used.append((time.process_time() - began) * 1000)
    if done is None:
        raise RuntimeError("no turn was made")
    return used, done


async def run() -> list[Figure]:
    """Milliseconds of processor time a prompt, by the processor's clock."""
    encodings = Encodings()
    await encodings.counter(MODEL)
    tool = Tool("get_price", "The price of a symbol.", "market", {"type": "object"}, "Looking up")
    base = Material(
        config=CompanyConfig(company_id="demo"),
        asker=Asker("p", "user", "pro", "u1", "en"),
        history=History(()),
        journal=Journal("t", basis=1, started_at=0.0, deadline=100.0),
        tools=(tool,) * 20,
        last=False,
        time_limit=60.0,
        context=context(),
    )
    figures: list[Figure] = []
    for tokens, messages, words in ((6_000, 20, 170), (100_000, 500, 3_300)):
        used, done = await turns(replace(base, history=history(messages, words)), encodings)
        total = done.original_tokens
        note = (
            f"{messages} messages; {'+'.join(done.strategies) or 'nothing to do'}; p99 {percentile(used, 0.99):.2f} ms"
        )
        figures.append(
            Figure(QUESTION, f"CPU a prompt at {total:,} tokens", median(used), "ms", TARGETS[tokens], note=note)
        )
    await encodings.close()
    return figures
