"""Long-term memory: stored, learned from conversations, searched, and changed by tools and by what a model proposes."""

from typing import NamedTuple

from contracts.proposal_rpc import PROPOSAL_GROUND, PROPOSE
from memory import fact_tools
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_lessons import MongoLessons
from memory.adapters.mongo_memories import MongoMemories
from memory.adapters.mongo_past_conversations import MongoPastConversations
from memory.adapters.projection_floor import ProjectionFloor
from memory.application.history import HistoryReader
from memory.application.inbox import Inbox
from memory.application.learner import Learner
from memory.application.lessons import Lessons
from memory.application.memories import Memories
from memory.application.message_search import MessageSearch
from memory.application.proofs import Proofs
from memory.embeddings.embeddings import Embeddings
from memory.handlers import search_memory
from runtime.clock import Clock
from runtime.lifecycle.service import Service
from runtime.stores.mongo import Database


class LongTerm(NamedTuple):
    """The parts of long-term memory that other features need."""

    memories: Memories
    learner: Learner
    lessons: Lessons
    searching: MessageSearch


def serve(
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
        past=MongoPastConversations(asked["conversations"], asked["facts"]),
        memories=memories,
        inbox=inbox,
        floor=floor,
        clock=clock,
        embeddings=embeddings,
    )
    proofs = Proofs(learner=learner, memories=memories, histories=histories, log=log)
    service.serve(PROPOSAL_GROUND, proofs.ground)
    service.serve(PROPOSE, proofs.judge)
    search_memory.serve(service, searching)
    fact_tools.serve(service, memories, histories, log, clock)
    service.on_stop(searching.stop)
    return LongTerm(memories, learner, Lessons(learner, MongoLessons(storing["lessons"]), log), searching)
