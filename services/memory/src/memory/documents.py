"""The documents that memory stores, by name. Their schemas are frozen like those of events (deploy.documents), since
each of two releases reads what the other has stored."""

from contracts.company import CompanyConfig
from memory.adapters.conversation_document import ConversationFields
from memory.adapters.mongo_memories import MemoryRecord
from memory.adapters.redis_windows import WindowRecord

DOCUMENTS: dict[str, object] = {
    "stored.memory.companies/v1": CompanyConfig,
    "stored.memory.conversations/v1": ConversationFields,
    "stored.memory.memories/v1": MemoryRecord,
    "stored.memory.windows/v1": WindowRecord,
}
