"""Builds the context of a customer's turn: all parts are fetched concurrently, and unavailable ones left out."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from contracts import context_rpc
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.market_rpc import ActiveAlert, MarketEvent, MarketStatusReply
from contracts.memory_rpc import LongTermMemory
from contracts.zones import DEFAULT_ZONE, zone
from memory.adapters.market import MarketClient
from memory.adapters.redis_short_term import RedisShortTerm
from memory.adapters.tool_catalogue import ToolCatalogue
from memory.application.conversation_context import PastConversations
from memory.application.memories import Memories
from memory.application.parts import Parts
from memory.domain.answers import facts_that_answer, is_about_writer
from memory.domain.forgotten import without_forgotten
from memory.domain.mentions import mentioned_symbols
from memory.domain.relevance import candidate_symbols, relevant_symbols
from memory.domain.relevant_facts import relevant_facts
from memory.domain.remembered import Remembered
from runtime.calls.deadlines import part_deadline
from runtime.clock import Clock

Task = asyncio.Task
PassageSearch = Callable[[str, KnowledgeQuery], Coroutine[Any, Any, KnowledgeFound]]
"""Searches a company's knowledge: the best passages of what can be read at once."""
MOST = 100
"""The most positions and alerts in one context."""
EVENTS = 20


@dataclass(frozen=True, slots=True)
class _HeldContext:
    """`portfolio` None: the one received was empty."""

    portfolio: context_rpc.ContextPortfolio | None
    alerts: list[ActiveAlert]


class ContextBuilder:
    """Builds contexts. `seconds`: the deadline of each part, at most a share of the caller's. Symbols and events
    depend on other parts, and may take as long again."""

    def __init__(
        self,
        *,
        memories: Memories,
        conversations: PastConversations,
        short_term: RedisShortTerm,
        market: MarketClient,
        tools: ToolCatalogue,
        clock: Clock,
        seconds: float,
        knowledge: PassageSearch,
        caught_up: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._memories = memories
        self._conversations = conversations
        self._short_term = short_term
        self._market = market
        self._tools = tools
        self._clock = clock
        self._seconds = seconds
        self._knowledge = knowledge
        self._caught_up = caught_up

    async def build(self, asked: context_rpc.ContextRequest) -> context_rpc.FullContext:
        """The context; missing parts are named in it. It takes at most twice a part's deadline."""
        if asked.market is False:
            return await self._untraded(asked)
        company, user = asked.company_id, asked.user_id
        parts = Parts(part_deadline(self._seconds))
        remembering = parts.start("memory", self._remembered(asked), waits=is_about_writer(asked.text))
        holdings = parts.start("portfolio", self._holdings(company, user))
        tools = parts.start(
            "system.availableTools", self._tools.offered(company, asked.role, asked.plan, asked.language or "es")
        )
        conversation = parts.start("conversation", self._conversations.read(asked, tools, parts), waits=True)
        short_term = parts.start("shortTerm", self._short_term.get(company, user))
        status = parts.start("market.status", self._market.status())
        said = parts.start("knowledge", self._knowledge(company, asked.knowledge)) if asked.knowledge else None
        wanted = asyncio.create_task(self._wanted(asked.text, remembering, holdings))
        symbols = parts.start("market.relevantSymbols", self._symbols(wanted), waits=True)
        events = parts.start("market.upcomingEvents", self._events(wanted), waits=True)
        try:
            await parts.all()
        finally:
            wanted.cancel()
        held, state = holdings.result(), remembering.result()
        known = _told(state.memory, asked.text) if state else None
        if held is None:
            parts.missing.append("alerts")
        elif held.portfolio is None:
            parts.leave_out("portfolio", "the market-adapter returned something that is no portfolio")
        person = _user(asked, known)
        return context_rpc.FullContext(
            user=person,
            market=_market(status.result(), events.result(), symbols.result(), parts),
            portfolio=held.portfolio if held else None,
            alerts=held.alerts if held else None,
            conversation=_without_forgotten(conversation.result(), state),
            memory=_memory(state, known, asked.text),
            short_term=short_term.result(),
            system=_system(asked, person, self._clock.now(), tools.result()),
            knowledge=said.result() if said else None,
            missing=parts.missing,
        )

    async def _untraded(self, asked: context_rpc.ContextRequest) -> context_rpc.FullContext:
        """The context of a company without trading."""
        company = asked.company_id
        parts = Parts(part_deadline(self._seconds))
        remembering = parts.start("memory", self._remembered(asked), waits=is_about_writer(asked.text))
        tools = parts.start(
            "system.availableTools", self._tools.offered(company, asked.role, asked.plan, asked.language or "es")
        )
        conversation = parts.start("conversation", self._conversations.read(asked, tools, parts), waits=True)
        said = parts.start("knowledge", self._knowledge(company, asked.knowledge)) if asked.knowledge else None
        await parts.all()
        state = remembering.result()
        known = _told(state.memory, asked.text) if state else None
        person = _user(asked, known)
        return context_rpc.FullContext(
            user=person,
            conversation=_without_forgotten(conversation.result(), state),
            memory=_memory(state, known, asked.text),
            system=_system(asked, person, self._clock.now(), tools.result()),
            knowledge=said.result() if said else None,
            missing=parts.missing,
        )

    async def _remembered(self, asked: context_rpc.ContextRequest) -> Remembered:
        """What is remembered of the user; for a question about themselves, with what they said a moment ago."""
        if is_about_writer(asked.text):
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._caught_up()
        return await self._memories.held(asked.company_id, asked.user_id)

    async def _holdings(self, company: str, user: str) -> "_HeldContext":
        held = await self._market.holdings(company, user)
        try:
            portfolio = context_rpc.ContextPortfolio.model_validate(held.portfolio)
        except ValidationError:
            return _HeldContext(None, held.alerts[:MOST])
        if len(portfolio.positions) > MOST:
            portfolio = portfolio.model_copy(update={"positions": portfolio.positions[:MOST]})
        return _HeldContext(portfolio, held.alerts[:MOST])

    async def _wanted(
        self, text: str, memory: "Task[Remembered | None]", holdings: "Task[_HeldContext | None]"
    ) -> list[str]:
        """The candidate symbols, once the user's likes and holdings are known, or known to be unavailable."""
        await asyncio.wait((memory, holdings))
        known, held = memory.result(), holdings.result()
        portfolio = held.portfolio if held else None
        return candidate_symbols(
            mentioned_symbols(text),
            known.memory.favorite_symbols if known else (),
            [one.symbol for one in portfolio.positions] if portfolio else (),
        )

    async def _symbols(self, wanted: "Task[list[str]]") -> list[context_rpc.RelevantSymbol]:
        names = await asyncio.shield(wanted)
        return relevant_symbols(names, await self._market.quotes(names)) if names else []

    async def _events(self, wanted: "Task[list[str]]") -> list[MarketEvent]:
        return (await self._market.events(await asyncio.shield(wanted)))[:EVENTS]


def _told(memory: LongTermMemory, question: str) -> LongTermMemory:
    """The memory with only the facts that go into a prompt, most important first."""
    chosen = relevant_facts(memory, question)
    notes = [one for one in chosen if one not in memory.preferences]
    return memory.model_copy(
        update={"user_notes": notes, "preferences": [one for one in chosen if one in memory.preferences]}
    )


def _without_forgotten(
    conversation: context_rpc.ContextConversation | None, state: Remembered | None
) -> context_rpc.ContextConversation | None:
    """The conversation, its summary without what was forgotten."""
    if conversation is None or conversation.summary is None or state is None or not state.forgotten_facts:
        return conversation
    text = without_forgotten(conversation.summary.text, state.forgotten_facts)
    summary = conversation.summary.model_copy(update={"text": text}) if text else None
    return conversation.model_copy(update={"summary": summary})


def _user(asked: context_rpc.ContextRequest, known: LongTermMemory | None) -> context_rpc.ContextUser:
    """Identity and plan from the token; the rest from what they have said or set."""
    told = known or LongTermMemory()
    return context_rpc.ContextUser(
        id=asked.user_id,
        name=asked.name or told.name,
        plan=asked.plan,
        risk_profile=told.risk_profile,
        experience=told.experience,
        language=told.language or asked.language or "es",
        timezone=told.timezone or asked.time_zone or DEFAULT_ZONE,
        preferences=told.preferences,
    )


def _memory(state: Remembered | None, known: LongTermMemory | None, question: str) -> context_rpc.ContextMemory | None:
    if state is None or known is None:
        return None
    facts = [*state.memory.user_notes, *state.memory.preferences, *state.memory.older_notes]
    told = context_rpc.ContextMemory.model_validate(known, from_attributes=True)
    return told.model_copy(update={"answering": facts_that_answer(facts, question)})


def _market(
    status: MarketStatusReply | None,
    events: Sequence[MarketEvent] | None,
    symbols: Sequence[context_rpc.RelevantSymbol] | None,
    parts: Parts,
) -> context_rpc.ContextMarket | None:
    if status is None and events is None and symbols is None:
        parts.missing.append("market")
        return None
    return context_rpc.ContextMarket(
        status=status.status if status else None,
        current_time=status.current_time if status else None,
        next_open=status.next_open if status else None,
        next_close=status.next_close if status else None,
        upcoming_events=list(events or ()),
        relevant_symbols=list(symbols or ()),
        notes=status.notes if status else None,
        symbols=status.symbols if status else [],
    )


def _system(
    asked: context_rpc.ContextRequest, person: context_rpc.ContextUser, now: datetime, tools: Mapping[str, str] | None
) -> context_rpc.ContextSystem:
    local = now.astimezone(zone(person.timezone))
    return context_rpc.ContextSystem(
        current_date=local.date(),
        current_time=f"{local:%H:%M}",
        agent_version=asked.agent_version,
        available_tools=None if tools is None else list(tools),
    )
