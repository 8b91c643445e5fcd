"""Composes long-term memory: stored, learned from conversations, searched, and changed by tools."""

from typing import NamedTuple

from memory import fact_tools, proposal_methods, recall_methods
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_lessons import MongoLessons
from memory.adapters.mongo_memories import MongoMemories
from memory.adapters.mongo_talks import MongoPastConversations
from memory.adapters.projection_floor import ProjectionFloor
from memory.application.history import HistoryReader
from memory.application.inbox import Inbox
from memory.application.learner import Learner
from memory.application.lessons import Lessons
from memory.application.memories import Memories
from memory.application.message_search import MessageSearch
from memory.embeddings.embeddings import Embeddings
from runtime.clock import Clock
from runtime.mongo import Database
from runtime.service import Service


class LongTerm(NamedTuple):
    """What other parts need of it."""

    memories: Memories
    learner: Learner
    lessons: Lessons
    searching: MessageSearch


def long_term_part(
    service: Service,
    *,
    asked: Database,
    storing: Database,
    conversations: MongoConversations,
    announcements: BusAnnouncements,
    market: MarketClient,
    inbox: Inbox,
    histories: HistoryReader,
    embeddings: Embeddings,
    log: StreamLog,
    floor: ProjectionFloor,
    clock: Clock,
) -> LongTerm:
    """Serves its methods; `asked`, `storing`: the database for methods and for consumers."""
    memories = Memories(store=MongoMemories(asked["memories"]), announcements=announcements, clock=clock)
    learner = Learner(
        memories=memories, conversations=conversations, inbox=inbox, histories=histories, market=market, log=log
    )
    searching = MessageSearch(
        talks=MongoPastConversations(asked["conversations"], asked["facts"]),
        memories=memories,
        inbox=inbox,
        floor=floor,
        clock=clock,
        embeddings=embeddings,
    )
    proposal_methods.serve(service, learner, memories, histories, log)
    recall_methods.serve(service, searching)
    fact_tools.serve(service, memories, histories, log, clock)
    service.on_stop(searching.stop)
    return LongTerm(memories, learner, Lessons(learner, MongoLessons(storing["lessons"]), log), searching)
