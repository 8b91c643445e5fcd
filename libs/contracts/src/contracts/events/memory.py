"""Events that memory publishes about the users that it remembers (stream FACTS)."""

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id


class MemoryUpdated(Wire):
    """The remembered facts about a user have changed; a reader must read them again. `turnId`: the turn from which it
    was learned."""

    company_id: CompanyId
    user_id: Id
    fields: list[str] = Field(description="which of the memory's fields changed; empty: it was deleted")
    turn_id: Id | None = None
