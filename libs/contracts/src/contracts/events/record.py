"""The inputs and the outcome of a turn, recorded so that it can be replayed, perhaps with another model."""

from datetime import datetime
from typing import Any

from pydantic import Field

from contracts.envelope import Wire
from contracts.events.turn import TurnJournal
from contracts.ids import CompanyId, Id


class TurnRecorded(Wire):
    """One turn that ended in an answer or a visible error.

    `inputs`: what the prompt was made from besides settings, tools and journal (requester, snapshot, messages,
    remembered facts), in the agent's own format; no principal. `tools`: the names of the offered tools, and `toolsHash`
    of their names, descriptions and parameters. `journal` is the turn's final entry in TURNS.
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
