"""Conversations that wait for a person in vain go back to the AI, and are told so: once, whoever watches."""

from datetime import timedelta

import structlog

from contracts.channels import ChatKind
from contracts.errors import SystemCode
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage
from memory.domain.handoff import BY, REASON, Decision, GiveBack, Notify, decide, notice_text
from memory.ports import CompanyStore, ConversationStore, Log, LogClock, NewFact

DEFAULT_TIMEOUT = 120
LIMIT = 2_000
"""Waiting conversations that a sweep looks at: far above what people can keep waiting."""
ATTEMPTS = 6

_log = structlog.get_logger(__name__)


class Handoffs:
    """The sweep over waiting conversations. The store only says where to look: the log decides, and its fence."""

    def __init__(self, *, conversations: ConversationStore, companies: CompanyStore, log: Log, clock: LogClock) -> None:
        self._conversations = conversations
        self._companies = companies
        self._log = log
        self._clock = clock

    async def sweep(self) -> int:
        """Gives back what is due; returns how many facts this replica appended."""
        appended = 0
        for company, conversation, timeout in await self.due():
            appended += await self.settle(company, conversation, timeout)
        return appended

    async def due(self) -> list[tuple[str, str, timedelta]]:
        """Companies and conversations that the store says are due, and the companies' timeouts."""
        timeouts: dict[str, timedelta] = {}
        now = await self._clock.now()
        found: list[tuple[str, str, timedelta]] = []
        for state in await self._conversations.waiting(LIMIT):
            timeout = timeouts.get(state.company) or await self._timeout(state.company)
            timeouts[state.company] = timeout
            if state.waiting_since is None or now >= state.waiting_since + timeout:
                found.append((state.company, state.conversation, timeout))
        return found

    async def settle(self, company: str, conversation: str, timeout: timedelta) -> int:
        """Appends to one conversation what is due there: both facts, one, or none."""
        appended = 0
        for _ in range(ATTEMPTS):
            snapshot, end = await self._log.snapshot(company, conversation)
            decision = decide(snapshot, timeout, await self._clock.now())
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
