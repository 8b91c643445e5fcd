"""What a turn without an answer leads to: a report to the operators, or, when the budget is spent, a person.

A spent budget is no fault: nothing is dead-lettered for it.
"""

from agent.domain.turn.journal import Journal
from agent.errors import UnreachableError
from agent.ports import Failures, Key
from contracts import channels
from contracts.channels import ChatKind
from contracts.envelope import CloudEvent
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage
from contracts.ids import derive_id
from runtime.conversation_log import ConversationLog
from runtime.errors import FenceRefused, RuntimeFault
from runtime.publishing import Publisher

SOURCE = "/nexus/agent"
REASON = "budget_spent"
ATTEMPTS = 8
"""Looks at a conversation in which something new comes in all the time."""


class EndedTurns:
    """Failures: told to operators, except a spent budget, which may ask for a person."""

    def __init__(self, failed: Failures, hand_offs: "HandOffs") -> None:
        self._failed = failed
        self._hand_offs = hand_offs

    async def report(self, key: Key, journal: Journal) -> None:
        """May come twice; raises UnreachableError when it could not be done."""
        if journal.failure != "BUDGET_SPENT":
            await self._failed.report(key, journal)
        elif journal.detail == "handoff":
            await self._hand_offs.ask_for_person(key, journal)


class HandOffs:
    """owner.changed to `waiting`, by the fence that every change of owner is appended with."""

    def __init__(self, publisher: Publisher, log: ConversationLog) -> None:
        self._publisher = publisher
        self._log = log

    async def ask_for_person(self, key: Key, journal: Journal) -> None:
        """A person is asked for, unless the owner has changed since the visitor was told so."""
        identity = derive_id(journal.turn_id, REASON)
        data = OwnerChanged(owner=Owner(kind=OwnerKind.WAITING), by="agent", reason=REASON)
        kind = ChatKind.OWNER
        event = CloudEvent(
            id=identity, source=SOURCE, type=kind.event_type, subject=f"{key.company}/{key.conversation}", data=data
        )
        try:
            for _ in range(ATTEMPTS):
                snapshot = await self._log.snapshot(*key)
                owner, told = snapshot.facts.get(kind), snapshot.facts.get(ChatKind.SYSTEM)
                since = told.seq if told is not None and _is_of(told.event, journal.turn_id) else journal.basis
                if owner is not None and (owner.seq > since or not _is_ai(owner.event)):
                    return
                try:
                    await self._publisher.append(
                        channels.chat(*key, kind),
                        event,
                        stream="CHAT",
                        msg_id=channels.chat_msg_id(*key, kind, identity),
                        fence=snapshot.fence,
                    )
                except FenceRefused:
                    continue
                return
        except RuntimeFault as error:
            raise UnreachableError(f"no person could be asked for in {key.conversation}: {error}") from error
        raise UnreachableError(f"no person could be asked for in {key.conversation}: too much is going on")


def _is_of(event: bytes, turn_id: str) -> bool:
    return CloudEvent[SystemMessage].model_validate_json(event).data.turn_id == turn_id


def _is_ai(event: bytes) -> bool:
    return CloudEvent[OwnerChanged].model_validate_json(event).data.owner.kind is OwnerKind.AI
