"""Composes the contexts of customers' turns, and their methods."""

from memory import context_handlers
from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_executions import MongoExecutions
from memory.adapters.mongo_summaries import MongoSummaries
from memory.adapters.redis_short_term import RedisShortTerm
from memory.adapters.tool_catalogue import ToolCatalogue
from memory.application.contexts import ContextBuilder
from memory.application.conversation_context import PastConversations
from memory.application.history import HistoryReader
from memory.application.memories import Memories
from memory.context_ports import PassageSearch
from runtime.clock import Clock
from runtime.mongo import Database
from runtime.service import Service


def context_part(
    service: Service,
    database: Database,
    memories: Memories,
    histories: HistoryReader,
    short_term: RedisShortTerm,
    knowledge: PassageSearch,
    *,
    market: MarketClient,
    log: StreamLog,
    clock: Clock,
    seconds: float,
) -> None:
    """Serves contexts; `seconds`: the deadline of each part (Contexts)."""
    talks = PastConversations(
        histories=histories,
        conversations=MongoConversations(database["conversations"]),
        summaries=MongoSummaries(database["summaries"]),
        uses=MongoExecutions(database["executions"]),
        market=market,
        log=log,
    )
    contexts = ContextBuilder(
        memories=memories,
        talks=talks,
        short_term=short_term,
        market=market,
        tools=ToolCatalogue(service.rpc),
        clock=clock,
        seconds=seconds,
        knowledge=knowledge,
    )
    context_handlers.serve(service, contexts, talks, short_term, clock)
