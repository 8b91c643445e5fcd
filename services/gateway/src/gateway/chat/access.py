"""Checks which conversations a caller may open. Another person's conversation looks like one that does not exist."""

from collections.abc import Sequence

import structlog

from gateway.adapters.identity import CallerSigner
from gateway.adapters.log import NatsLog
from gateway.adapters.memory import BusMemory
from gateway.domain.conversation_ids import is_issued_to, new_conversation_id
from gateway.errors import RefusedError, UnavailableError, not_found
from gateway.ports import TokenCaller

log = structlog.get_logger(__name__)


class Access:
    """Checks ownership by the id itself, then the log's first message, then memory: the cheapest first."""

    def __init__(self, log: NatsLog, memory: BusMemory, principals: CallerSigner, id_keys: Sequence[bytes]) -> None:
        self._log = log
        self._memory = memory
        self._principals = principals
        self._id_keys = id_keys

    async def own_conversation(self, caller: TokenCaller, conversation: str) -> str:
        """Returns the conversation's id, if it is the visitor's or customer's own.

        Raises:
            RefusedError: NOT_FOUND, it is not theirs.
            UnavailableError: this cannot be checked now.
        """
        if not await self.owns(caller, conversation):
            raise not_found("conversation")
        return conversation

    async def latest(self, caller: TokenCaller) -> str | None:
        """The visitor's or customer's latest conversation; None if there is none, or if memory does not answer: a chat
        then begins without its history."""
        try:
            return await self._memory.latest(caller.company, caller.subject)
        except UnavailableError:
            log.warning("chat.begun_anew", company=caller.company)
            return None

    def new_conversation(self, caller: TokenCaller) -> str:
        """The id of a new, empty conversation of the visitor or customer."""
        return new_conversation_id(self._id_keys[0], caller.company, caller.subject)

    async def owns(self, caller: TokenCaller, conversation: str) -> bool:
        """Whether the conversation is this visitor's or customer's."""
        if is_issued_to(self._id_keys, caller.company, caller.subject, conversation):
            return True
        message = await self._log.first_visitor(caller.company, conversation)
        if message is not None:
            principal = message.data.get("principal")
            if not isinstance(principal, str):
                return False
            return self._principals.subject(principal, caller.company) == caller.subject
        view = await self._memory.conversation(caller.company, conversation)
        return view is not None and (view.company_id, view.visitor.was or view.visitor.id) == (
            caller.company,
            caller.subject,
        )

    async def check_watchable(self, caller: TokenCaller, conversation: str) -> None:
        """Raises NOT_FOUND unless the conversation exists in the human agent's company."""
        snapshot = await self._log.snapshot(caller.company, conversation)
        if snapshot.seq == 0 and await self._memory.conversation(caller.company, conversation) is None:
            raise not_found("conversation")

    async def check_usable(self, caller: TokenCaller, conversation: str) -> None:
        """Raises NOT_FOUND unless the caller may act in it: visitors and customers in their own conversations, human
        agents in any of their company."""
        if caller.is_operator:
            await self.check_watchable(caller, conversation)
        else:
            await self.own_conversation(caller, conversation)

    async def check_readable(self, caller: TokenCaller, conversation: str) -> None:
        """Like `check_usable`, but customers may also read what they wrote as visitors before they signed in."""
        try:
            await self.check_usable(caller, conversation)
        except RefusedError:
            view = await self._memory.conversation(caller.company, conversation)
            if view is None or not view.visitor.signed_in or view.visitor.id != caller.subject:
                raise
