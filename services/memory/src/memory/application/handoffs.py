"""Conversations that wait for a person in vain go back to the AI, and are told so: once, whoever watches."""

from datetime import timedelta

import structlog

from contracts.channels import ChatKind
from contracts.errors import SystemCode
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage
from memory.domain.handoff import BY, REASON, Decision, GiveBack, Notify, decide, notice_text
from memory.ports import CompanyStore, ConversationStore, Floor, Log, NewFact

DEFAULT_TIMEOUT = 120
LIMIT = 200
ATTEMPTS = 6

_log = structlog.get_logger(__name__)


class Handoffs:
    """The sweep over waiting conversations. The store only says where to look: the log decides, and its fence."""

    def __init__(self, *, conversations: ConversationStore, companies: CompanyStore, log: Log, floor: Floor) -> None:
        self._conversations = conversations
        self._companies = companies
        self._log = log
        self._floor = floor

    async def sweep(self) -> int:
        """Gives back what is due; returns how many facts this replica appended."""
        appended = 0
        timeouts: dict[str, timedelta] = {}
        now = await self._floor.now()
        for state in await self._conversations.waiting(LIMIT):
            if state.company not in timeouts:
                timeouts[state.company] = await self._timeout(state.company)
            since = state.waiting_since
            if since is not None and now < since + timeouts[state.company]:
                continue
            appended += await self.settle(state.company, state.conversation, timeouts[state.company])
        return appended

    async def settle(self, company: str, conversation: str, timeout: timedelta) -> int:
        """Appends to one conversation what is due there: both facts, one, or none."""
        appended = 0
        for _ in range(ATTEMPTS):
            snapshot, end = await self._log.snapshot(company, conversation)
            decision = decide(snapshot, timeout, await self._floor.now())
            fact = _fact(company, conversation, decision, notice_text(snapshot))
            if fact is None:
                return appended
            if await self._log.append(fact, end):
                appended += 1
        _log.warning("a conversation kept moving while it was given back", company=company, conversation=conversation)
        return appended

    async def _timeout(self, company: str) -> timedelta:
        settings = await self._companies.get(company)
        return timedelta(seconds=settings.config.handoff_timeout_seconds if settings else DEFAULT_TIMEOUT)


def _fact(company: str, conversation: str, decision: Decision, text: str) -> NewFact | None:
    match decision:
        case GiveBack(event_id=event_id):
            back = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by=BY, reason=REASON)
            return NewFact(company, conversation, ChatKind.OWNER, event_id, back)
        case Notify(event_id=event_id, basis=basis):
            notice = SystemMessage(message_id=event_id, text=text, code=SystemCode.HANDOFF_TIMEOUT, basis=basis)
            return NewFact(company, conversation, ChatKind.SYSTEM, event_id, notice)
        case _:
            return None
