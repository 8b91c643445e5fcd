"""Reports a failed turn twice: as turn.failed for operators, and in the dead-letter stream for a replay."""

import orjson

from agent.domain.turn.journal import Journal
from agent.domain.turn.journal_wire import journal_to_wire
from agent.errors import UnreachableError
from agent.ports import ConversationKey
from contracts import channels
from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.turn import TurnFailed
from contracts.ids import derive_id
from contracts.streams import CHAT
from runtime.bus.publisher import Publisher
from runtime.conversation import ConversationLog
from runtime.errors import RuntimeLibraryError
from runtime.workers.dead_letters import DeadLetters

SOURCE = "/nexus/agent"
SERVICE = "agent"


class FailureReports:
    """Reports each failed turn once. The dead letter is written last; if it exists, the report was made, even days
    ago."""

    def __init__(self, publisher: Publisher, dead_letters: DeadLetters, log: ConversationLog) -> None:
        self._publisher = publisher
        self._dead_letters = dead_letters
        self._log = log

    async def report(self, key: ConversationKey, journal: Journal) -> None:
        """Reports a failed turn; raises UnreachableError."""
        code = journal.failure or "INTERNAL"
        event = CloudEvent(
            id=derive_id(journal.turn_id, "failed"),
            source=SOURCE,
            type="turn.failed.v1",
            subject=f"{key.company}/{key.conversation}",
            data=TurnFailed(
                company_id=key.company,
                conversation_id=key.conversation,
                turn_id=journal.turn_id,
                basis=journal.basis,
                code=code,
                detail=journal.detail,
                attempts=journal.attempts,
            ),
        )
        letter_id = f"{journal.basis}-{journal.turn_id}"
        try:
            if await self._dead_letters.has(SERVICE, CHAT.name, letter_id):
                return
            await self._publisher.append(
                channels.fact("turn.failed.v1", key.company, None),
                event,
                stream="FACTS",
                msg_id=f"{journal.turn_id}.failed",
            )
            message = await self._log.at(journal.basis)
            await self._dead_letters.put(
                service=SERVICE,
                stream=CHAT.name,
                subject=channels.chat(*key, ChatKind.VISITOR),
                body=message.event if message else orjson.dumps(journal_to_wire(journal)),
                reason=f"{code}: {journal.detail}",
                headers={},
                origin_seq=journal.basis,
                deliveries=journal.attempts,
                letter=letter_id,
            )
        except RuntimeLibraryError as error:
            raise UnreachableError(f"the failed turn {journal.turn_id} could not be reported: {error}") from error
