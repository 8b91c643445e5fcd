"""Compression: for any conversation the prompt fits, the newest stays, groups stay whole, and it says what it did."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.adapters.encodings import load
from agent.domain.context.compression import Compressed, PromptDraft, PromptMessage, TokenWindow, compress
from agent.domain.context.extract import MAX_TOKENS, MAX_WORDS, extract, limit_summary
from agent.domain.context.tokens import Counter
from agent.domain.context.truncation import cut_text, fit_messages
from agent.domain.prompt.copilot import Customer, copilot_sections
from agent.domain.prompt.messages import conversation
from agent.domain.turn.journal import TurnCall, TurnStep
from contracts.context_rpc import ContextMarket, FullContext, RelevantSymbol
from contracts.market_rpc import MarketEvent

COUNTER = Counter(lambda text: len(load("o200k_base").encode_ordinary(text)))
WORD = ["portfolio", "dividend", "earnings", "AAPL", "riesgo", "cartera", "182.52", "buy", "sell", "strategy", ""]


def events(count: int) -> list[MarketEvent]:
    impacts = ("high", "medium", "low")
    return [
        MarketEvent(date=date(2026, 1, 1), name=f"event {n}", impact=impacts[n % 3], kind="economy", source="s")
        for n in range(count)
    ]


def context(symbols: int = 10, count: int = 12) -> FullContext:
    market = ContextMarket(
        status="open",
        current_time=datetime(2026, 1, 1, tzinfo=UTC),
        upcoming_events=events(count),
        relevant_symbols=[RelevantSymbol(symbol=f"S{n}", price=10.0 + n) for n in range(symbols)],
    )
    return FullContext(market=market)


def rendered(steps: Sequence[TurnStep] = ()) -> Any:
    def render(draft: PromptDraft) -> list[dict[str, Any]]:
        system = copilot_sections("en", draft.context, Customer("pro", "en"), summary=draft.summary)
        spoken = ((one.mine, one.text) for one in draft.messages[-20:])
        return conversation(system, spoken, steps, language="en", last=False)

    return render


def run(draft: PromptDraft, window: TokenWindow | None = None, steps: Sequence[TurnStep] = ()) -> Compressed:
    return compress(draft, rendered(steps), COUNTER, window or TokenWindow(), "en")


def said(*lengths: int) -> tuple[PromptMessage, ...]:
    return tuple(
        PromptMessage(n % 2 == 1, " ".join(WORD[(n + i) % len(WORD)] for i in range(words)) or "hi", n + 1)
        for n, words in enumerate(lengths)
    )


def contents(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(message.get("content") or "") for message in messages)


LENGTHS = st.lists(st.integers(0, 1500), min_size=1, max_size=30)
STEPS = st.lists(st.lists(st.integers(0, 6000), min_size=1, max_size=4), max_size=6)


def steps_of(sizes: list[list[int]]) -> list[TurnStep]:
    return [
        TurnStep(
            1,
            "",
            tuple(
                TurnCall(f"t-{s}-{c}", "look", '{"a":1}', "", '{"success":true,"data":"' + "x1 " * size + '"}')
                for c, size in enumerate(step)
            ),
        )
        for s, step in enumerate(sizes)
    ]


@settings(max_examples=60, deadline=None)
@given(LENGTHS, STEPS, st.booleans(), st.integers(1_200, 8_000))
def test_any_conversation_fits_and_keeps_what_is_newest(
    lengths: list[int], sizes: list[list[int]], known: bool, most: int
) -> None:
    spoken, steps = said(*lengths), steps_of(sizes)
    window = TokenWindow().within(most)
    done = run(PromptDraft(spoken, context() if known else None), window, steps)
    tokens = COUNTER.messages(done.messages)
    assert tokens <= window.max_tokens
    # What was done is said, and is said to have been what it was.
    if done.original_tokens:
        assert done.compressed_tokens == tokens
        assert done.original_tokens == COUNTER.messages(
            rendered(steps)(PromptDraft(spoken, context() if known else None))
        )
    assert done.compressed == (bool(done.strategies) or done.cut)
    if not done.compressed:
        assert done.context == PromptDraft(spoken, context() if known else None)
    order = ["reduce_market_context", "trim_conversation", "summarize_conversation"]
    assert list(done.strategies) == [name for name in order if name in done.strategies]
    # The newest messages are the ones that are kept, and what is not kept is known.
    assert done.context.messages == spoken[len(spoken) - len(done.context.messages) :]
    assert (*done.dropped, *done.context.messages) == spoken
    assert done.context.messages[-1] == spoken[-1]
    # Every result has its call before it, every call its results behind it.
    expected: list[str] = []
    for message in done.messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == expected.pop(0)
        else:
            assert expected == []
            expected = [call["id"] for call in message.get("tool_calls") or ()]
    assert expected == []


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=30_000), st.integers(30, 2_000))
def test_a_cut_text_fits_and_shows_that_it_is_cut(text: str, most: int) -> None:
    shorter = cut_text(text, most, COUNTER.text, "en")
    assert COUNTER.text(shorter) <= most
    assert shorter == text or "characters left out" in shorter or shorter == "…"


def test_below_the_limit_nothing_is_done() -> None:
    draft = PromptDraft(said(50, 50, 50), context())
    done = run(draft)
    assert (done.compressed, done.strategies, done.context) == (False, (), draft)


def test_the_strategies_come_in_their_order_and_stop_at_the_target() -> None:
    long = said(*([450] * 14))
    done = run(PromptDraft(long, context()))
    assert done.strategies == ("reduce_market_context", "trim_conversation", "summarize_conversation")
    assert done.original_tokens > 6_000 >= 4_000 >= done.compressed_tokens
    enough = run(PromptDraft((*said(*([600] * 10)), *said(*([60] * 10))), context()))
    assert enough.strategies == ("reduce_market_context", "trim_conversation")
    assert enough.compressed_tokens <= 4_000
    assert enough.context.summary is None


def test_the_market_is_reduced_to_five_symbols_and_high_impact_events() -> None:
    done = run(PromptDraft(said(*([450] * 14)), context()))
    assert done.context.context is not None
    assert done.context.context.market is not None
    assert len(done.context.context.market.relevant_symbols) == 5
    assert {event.impact for event in done.context.context.market.upcoming_events} == {"high"}


def test_the_summary_stands_for_what_trimming_dropped_too() -> None:
    early = PromptMessage(False, "I decided to sell 40 TSLA at 300 because of the earnings.", 1)
    done = run(PromptDraft((early, *said(*([450] * 14))), context()))
    assert done.dropped[0] == early
    assert done.context.summary is not None
    assert "TSLA" in done.context.summary
    assert done.context.summary in contents(done.messages)
    assert len(done.context.messages) == 5


def test_an_earlier_summary_is_extended_and_not_made_anew() -> None:
    done = run(PromptDraft(said(*([450] * 14)), context(), "The user holds NVDA for the long term."))
    assert done.context.summary is not None
    assert done.context.summary.startswith("The user holds NVDA for the long term.")
    assert len(done.context.summary) > 40


def test_one_huge_message_is_cut_visibly_in_the_prompts_language() -> None:
    huge = PromptMessage(False, "inicio " + "中文 " * 20_000 + " final", 1)

    def render(draft: PromptDraft) -> list[dict[str, Any]]:
        return conversation("s", ((one.mine, one.text) for one in draft.messages), (), language="es", last=False)

    done = compress(PromptDraft((huge,)), render, COUNTER, TokenWindow(), "es")
    text = str(done.messages[-1]["content"])
    assert done.cut
    assert text.startswith("inicio")
    assert text.endswith("final")
    assert "caracteres omitidos" in text
    assert 7_000 < COUNTER.messages(done.messages) <= 8_000


def test_a_long_result_gives_way_before_the_question_does() -> None:
    question = PromptMessage(False, " ".join(["question"] * 2_000), 1)
    done = run(PromptDraft((question,)), steps=steps_of([[20_000, 10]]))
    assert question.text in contents(done.messages)
    assert "characters left out" in str(done.messages[-2]["content"])
    assert "characters left out" not in str(done.messages[-1]["content"])


def test_where_nothing_else_helps_the_oldest_go_in_groups() -> None:
    messages = conversation("s", [(False, "hi")], steps_of([[50] * 4] * 40), language="en", last=False)
    fit = fit_messages(messages, 1_000, COUNTER, "en")
    assert COUNTER.messages(fit) <= 1_000
    assert fit[:2] == messages[:2]
    assert fit[-1]["tool_call_id"] == messages[-1]["tool_call_id"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=700), max_size=40), st.none() | st.text(min_size=1, max_size=3_000))
def test_a_summary_by_rules_keeps_to_its_limits(texts: list[str], earlier: str | None) -> None:
    spoken = [(n % 3 == 0, text) for n, text in enumerate(texts)]
    summary = extract(earlier, spoken, COUNTER.text, "en")
    if summary is not None:
        assert len(summary.split()) <= MAX_WORDS
        assert COUNTER.text(summary) <= MAX_TOKENS


@pytest.mark.parametrize("text", ["word " * 500, "x" * 5_000, "中" * 3_000, "ok"])
def test_any_summary_is_brought_inside_its_limits(text: str) -> None:
    short = limit_summary(text, COUNTER.text)
    assert 0 < len(short.split()) <= MAX_WORDS
    assert COUNTER.text(short) <= MAX_TOKENS
