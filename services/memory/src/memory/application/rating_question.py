"""Asks once, in a finished conversation, whether it helped."""

from contracts.channels import ChatKind
from contracts.conversation import Snapshot
from contracts.errors import RATING_ASKED
from contracts.events.chat import SystemMessage
from contracts.ids import derive_id
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.domain.conversation import InboxConversation
from memory.domain.desk import RESOLVED
from memory.domain.handoff import language
from memory.texts import TEXTS
from runtime.conversation import NewFact


async def ask_rating(
    conversations: MongoConversations, companies: MongoCompanies, log: StreamLog, company: str, conversation: str
) -> None:
    """Appends the question to a conversation that is resolved and answered, and was not asked before. Its id is derived
    from the conversation, so a repeat appends nothing.

    Raises:
        StoreUnavailableError, RuntimeLibraryError: try again later.
    """
    state = await conversations.get(company, conversation)
    settings = await companies.get(company)
    if state is None or not _is_due(state) or not (settings and settings.config.ask_rating):
        return
    message_id = derive_id(company, conversation, RATING_ASKED)

    async def question(snapshot: Snapshot) -> NewFact | None:
        if snapshot.newest_visitor != state.visitor_traits_position.seq:
            return None  # the visitor has written since: it is not over
        text = TEXTS["rating.question"].in_language(language(snapshot))
        data = SystemMessage(message_id=message_id, text=text, code=RATING_ASKED, basis=snapshot.basis)
        return NewFact(ChatKind.SYSTEM, data, message_id, message_id)

    await log.append_if(company, conversation, question)


def _is_due(state: InboxConversation) -> bool:
    was_answered = state.answers > 0 or state.handed_off
    return state.status == RESOLVED and was_answered and not state.rating_asked and state.person is not None
