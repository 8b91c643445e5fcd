"""Writes turns.recorded.v1 to FACTS, once for each ended turn, in the background."""

from datetime import UTC, datetime
from functools import partial

import orjson

from agent.adapters.write_behind import WriteBehind
from agent.domain.turn.journal_wire import journal_to_wire
from agent.metrics import RECORDS_LOST
from agent.ports import ConversationKey
from agent.record.turn import TYPE, EndedTurn, hash_of, inputs_to_json
from contracts import channels
from contracts.ids import derive_id, is_id
from runtime.bus.publisher import Publisher, event_json

SOURCE = "/nexus/agent"
MAX_WAITING = 2_000
"""Records being published at once; further ones are lost, and counted as lost."""


class TurnRecords:
    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._writer = WriteBehind(TYPE, MAX_WAITING, RECORDS_LOST)
        self.flush = self._writer.flush

    def record(self, key: ConversationKey, turn: EndedTurn) -> None:
        """Records an ended turn in the background."""
        self._writer.write(partial(self._write, key, turn), company=key.company, turn=turn.journal.turn_id)

    async def _write(self, key: ConversationKey, turn: EndedTurn) -> None:
        journal, user = turn.journal, turn.inputs.seen.requester.user
        identity = derive_id(journal.turn_id, "recorded")
        data = {
            "companyId": key.company,
            "conversationId": key.conversation,
            **({"userId": user} if user else {}),
            "turnId": journal.turn_id,
            "startedAt": datetime.fromtimestamp(journal.started_at, UTC),
            "finishedAt": datetime.fromtimestamp(turn.finished_at, UTC),
            "configVersion": turn.config_version,
            "tools": [tool.name for tool in turn.tools],
            "toolsHash": hash_of(turn.tools),
            "inputs": orjson.Fragment(inputs_to_json(turn.inputs, key)),
            "journal": journal_to_wire(journal),
        }
        event = event_json(TYPE, SOURCE, data, subject=f"{key.company}/{key.conversation}", identity=identity)
        subject = channels.fact(TYPE, key.company, user if user and is_id(user) else None)
        await self._publisher.append(subject, event, stream="FACTS", msg_id=identity)
