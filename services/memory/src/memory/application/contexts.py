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
MAX_HOLDINGS = 100
"""Positions, and alerts, in one context at most."""
MAX_EVENTS = 20


@dataclass(frozen=True, slots=True)
class _Holdings:
    """A user's portfolio and alerts. `portfolio` None: what the market-adapter sent is no portfolio."""

    portfolio: context_rpc.ContextPortfolio | None
    alerts: list[ActiveAlert]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBuilder:
    """Builds contexts. `seconds`: the deadline of each part, at most a share of the caller's. Symbols and events
    wait for other parts, and may then take as long again."""

    memories: Memories
    conversations: PastConversations
    short_term: RedisShortTerm
    market: MarketClient
    tools: ToolCatalogue
    clock: Clock
    seconds: float
    knowledge: PassageSearch
    caught_up: Callable[[], Coroutine[Any, Any, None]]

    async def build(self, request: context_rpc.ContextRequest) -> context_rpc.FullContext:
        """Builds the context within twice a part's deadline; it names the parts that are missing."""
        if request.market is False:
            return await self._build_without_trading(request)
        company, user = request.company_id, request.user_id
        parts = Parts(part_deadline(self.seconds))
        memory = parts.start("memory", self._remembered(request), waits=is_about_writer(request.text))
        holdings_task = parts.start("portfolio", self._holdings(company, user))
        tools = parts.start(
            "system.availableTools",
            self.tools.categories(company, request.role, request.plan, request.language or "es"),
        )
        conversation = parts.start("conversation", self.conversations.read(request, tools, parts), waits=True)
        short_term = parts.start("shortTerm", self.short_term.get(company, user))
        status = parts.start("market.status", self.market.status())
        passages = parts.start("knowledge", self.knowledge(company, request.knowledge)) if request.knowledge else None
        symbol_names = asyncio.create_task(self._symbol_candidates(request.text, memory, holdings_task))
        symbols = parts.start("market.relevantSymbols", self._symbols(symbol_names), waits=True)
        events = parts.start("market.upcomingEvents", self._events(symbol_names), waits=True)
        try:
            await parts.all()
        finally:
            symbol_names.cancel()
        holdings_part, remembered = holdings_task.result(), memory.result()
        prompt_memory = _prompt_memory(remembered, request.text, parts)
        if holdings_part is None:
            parts.missing.append("alerts")
        elif holdings_part.portfolio is None:
            parts.leave_out("portfolio", "the market-adapter returned something that is no portfolio")
        person = _user(request, prompt_memory)
        return context_rpc.FullContext(
            user=person,
            market=_market(status.result(), events.result(), symbols.result(), parts),
            portfolio=holdings_part.portfolio if holdings_part else None,
            alerts=holdings_part.alerts if holdings_part else None,
            conversation=_without_forgotten(conversation.result(), remembered),
            memory=_memory(remembered, prompt_memory, request.text),
            short_term=short_term.result(),
            system=_system(request, person, self.clock.now(), tools.result()),
            knowledge=passages.result() if passages else None,
            missing=parts.missing,
        )

    async def _build_without_trading(self, request: context_rpc.ContextRequest) -> context_rpc.FullContext:
        """Builds the context of a company without trading."""
        company = request.company_id
        parts = Parts(part_deadline(self.seconds))
        memory = parts.start("memory", self._remembered(request), waits=is_about_writer(request.text))
        tools = parts.start(
            "system.availableTools",
            self.tools.categories(company, request.role, request.plan, request.language or "es"),
        )
        conversation = parts.start("conversation", self.conversations.read(request, tools, parts), waits=True)
        passages = parts.start("knowledge", self.knowledge(company, request.knowledge)) if request.knowledge else None
        await parts.all()
        remembered = memory.result()
        prompt_memory = _prompt_memory(remembered, request.text, parts)
        person = _user(request, prompt_memory)
        return context_rpc.FullContext(
            user=person,
            conversation=_without_forgotten(conversation.result(), remembered),
            memory=_memory(remembered, prompt_memory, request.text),
            system=_system(request, person, self.clock.now(), tools.result()),
            knowledge=passages.result() if passages else None,
            missing=parts.missing,
        )

    async def _remembered(self, request: context_rpc.ContextRequest) -> Remembered:
        """What is remembered about the user. A question about themselves waits until their latest messages are
        learned."""
        if is_about_writer(request.text):
            with suppress(TimeoutError):
                async with asyncio.timeout(self.seconds):
                    await self.caught_up()
        return await self.memories.held(request.company_id, request.user_id)

    async def _holdings(self, company: str, user: str) -> "_Holdings":
        holdings = await self.market.holdings(company, user)
        try:
            portfolio = context_rpc.ContextPortfolio.model_validate(holdings.portfolio)
        except ValidationError:
            return _Holdings(None, holdings.alerts[:MAX_HOLDINGS])
        if len(portfolio.positions) > MAX_HOLDINGS:
            portfolio = portfolio.model_copy(update={"positions": portfolio.positions[:MAX_HOLDINGS]})
        return _Holdings(portfolio, holdings.alerts[:MAX_HOLDINGS])

    async def _symbol_candidates(
        self, text: str, memory: "Task[Remembered | None]", holdings_task: "Task[_Holdings | None]"
    ) -> list[str]:
        """The candidate symbols, once the user's likes and holdings are known, or known to be unavailable."""
        await asyncio.wait((memory, holdings_task))
        remembered, holdings_part = memory.result(), holdings_task.result()
        portfolio = holdings_part.portfolio if holdings_part else None
        return candidate_symbols(
            mentioned_symbols(text),
            remembered.memory.favorite_symbols if remembered else (),
            [position.symbol for position in portfolio.positions] if portfolio else (),
        )

    async def _symbols(self, symbol_names: "Task[list[str]]") -> list[context_rpc.RelevantSymbol]:
        names = await asyncio.shield(symbol_names)
        return relevant_symbols(names, await self.market.quotes(names)) if names else []

    async def _events(self, symbol_names: "Task[list[str]]") -> list[MarketEvent]:
        return (await self.market.events(await asyncio.shield(symbol_names)))[:MAX_EVENTS]


def _prompt_memory(remembered: Remembered | None, question: str, parts: Parts) -> LongTermMemory | None:
    """The memory reduced to the facts that go into a prompt, most important first. If it could not be read, what
    answers a question about its writer is named as missing."""
    if remembered is None:
        if is_about_writer(question):
            parts.missing.append("memory.answering")
        return None
    memory = remembered.memory
    facts = relevant_facts(memory, question)
    notes = [fact for fact in facts if fact not in memory.preferences]
    return memory.model_copy(
        update={"user_notes": notes, "preferences": [fact for fact in facts if fact in memory.preferences]}
    )


def _without_forgotten(
    conversation: context_rpc.ContextConversation | None, remembered: Remembered | None
) -> context_rpc.ContextConversation | None:
    """The conversation; what was forgotten is removed from its summary."""
    if conversation is None or conversation.summary is None or remembered is None or not remembered.forgotten_facts:
        return conversation
    text = without_forgotten(conversation.summary.text, remembered.forgotten_facts)
    summary = conversation.summary.model_copy(update={"text": text}) if text else None
    return conversation.model_copy(update={"summary": summary})


def _user(request: context_rpc.ContextRequest, memory: LongTermMemory | None) -> context_rpc.ContextUser:
    """The user: identity and plan from the token, everything else from what they have said or set."""
    profile = memory or LongTermMemory()
    return context_rpc.ContextUser(
        id=request.user_id,
        name=request.name or profile.name,
        plan=request.plan,
        risk_profile=profile.risk_profile,
        experience=profile.experience,
        language=profile.language or request.language or "es",
        timezone=profile.timezone or request.time_zone or DEFAULT_ZONE,
        preferences=profile.preferences,
    )


def _memory(
    remembered: Remembered | None, prompt_memory: LongTermMemory | None, question: str
) -> context_rpc.ContextMemory | None:
    if remembered is None or prompt_memory is None:
        return None
    facts = [*remembered.memory.user_notes, *remembered.memory.preferences, *remembered.memory.older_notes]
    memory = context_rpc.ContextMemory.model_validate(prompt_memory, from_attributes=True)
    return memory.model_copy(update={"answering": facts_that_answer(facts, question)})


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
    request: context_rpc.ContextRequest, person: context_rpc.ContextUser, now: datetime, tools: Mapping[str, str] | None
) -> context_rpc.ContextSystem:
    local = now.astimezone(zone(person.timezone))
    return context_rpc.ContextSystem(
        current_date=local.date(),
        current_time=f"{local:%H:%M}",
        agent_version=request.agent_version,
        available_tools=None if tools is None else list(tools),
    )
