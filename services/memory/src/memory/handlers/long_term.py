"""Builds long-term memory and serves its methods: it is learned from conversations, searched, and changed by tools and
by a model's proposals."""

from contracts.proposal_rpc import PROPOSAL_GROUND, PROPOSE
from memory import fact_tools
from memory.adapters.announcements import BusAnnouncements
from memory.adapters.mongo_lessons import MongoLessons
from memory.adapters.mongo_memories import MongoMemories
from memory.adapters.mongo_past_conversations import MongoPastConversations
from memory.application.history import HistoryReader
from memory.application.inbox import Inbox
from memory.application.learner import Learner
from memory.application.lessons import Lessons
from memory.application.memories import Memories
from memory.application.message_search import MessageSearch
from memory.application.proofs import Proofs
from memory.application.unproposed import UnproposedTurns
from memory.deps import Deps
from memory.embeddings.embeddings import Embeddings
from memory.handlers import search_memory


def serve(
    deps: Deps, *, announcements: BusAnnouncements, inbox: Inbox, histories: HistoryReader, embeddings: Embeddings
) -> tuple[Memories, Learner, tuple[Lessons, UnproposedTurns], MessageSearch]:
    """Serves the methods of long-term memory; returns its parts that other features need."""
    service, database, log, clock = deps.service, deps.database, deps.log, deps.clock
    memories = Memories(store=MongoMemories(database["memories"]), announcements=announcements, clock=clock)
    learner = Learner(
        memories=memories,
        conversations=deps.conversations,
        inbox=inbox,
        histories=histories,
        market=deps.market,
        log=log,
    )
    message_search = MessageSearch(
        past=MongoPastConversations(database["conversations"], database["facts"]),
        memories=memories,
        inbox=inbox,
        floor=deps.floor,
        clock=clock,
        embeddings=embeddings,
    )
    pending = MongoLessons(deps.fact_database["lessons"])
    proofs = Proofs(learner=learner, lessons=pending, memories=memories, histories=histories, log=log)
    service.serve(PROPOSAL_GROUND, proofs.ground)
    service.serve(PROPOSE, proofs.judge)
    search_memory.serve(service, message_search)
    fact_tools.serve(service, memories, histories, log, clock)
    service.on_stop(message_search.stop)
    lessons = Lessons(learner, pending, log), UnproposedTurns(learner, pending, log, service.rpc)
    return memories, learner, lessons, message_search
