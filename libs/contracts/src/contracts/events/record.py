"""What a turn was decided from and what came of it, kept so that it can be done again, perhaps with another model."""

from datetime import datetime
from typing import Any

from pydantic import Field

from contracts.envelope import Wire
from contracts.events.turn import TurnJournal
from contracts.ids import CompanyId, Id


class TurnRecorded(Wire):
    """One turn that ended in an answer or a visible error.

    `inputs`: everything besides settings, tools and journal that the prompt was made from (who asked, what the snapshot
    said, what was said, what was remembered), in the agent's own shapes; no principal. `tools`: what was offered, by
    name, and `toolsHash` of names, descriptions and parameters. `journal` is the turn as TURNS held it at its end.
    """

    company_id: CompanyId
    conversation_id: Id
    user_id: str | None = None
    turn_id: Id
    started_at: datetime
    finished_at: datetime
    config_version: int = Field(ge=0)
    tools: list[str] = Field(default_factory=list[str])
    tools_hash: str | None = None
    inputs: dict[str, Any]
    journal: TurnJournal
