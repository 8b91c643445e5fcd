"""The documents that memory stores, by name. Their schemas are frozen like events' (deploy.documents), since two
releases read each other's."""

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
