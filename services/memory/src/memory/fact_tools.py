"""remember, forget and update_memory as the tool-executor calls them, which has checked who is calling.

In a chat only what the user has written counts: a fact must stand in one of their own statements, and something is
forgotten only at their word. So no page, headline or tool result can have a model remember or forget for it.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime

from contracts.envelope import Snake
from contracts.errors import ToolCode
from contracts.memory_rpc import QUEUE, fact_id
from contracts.tools.memory import FactArguments, ForgetArguments, UpdateArguments
from contracts.tools_rpc import MEMORY_OUTCOME, Caller, ToolOutcome, ToolServiceData, ToolServiceRequest, tool_service
from memory.adapters.chat_log import StreamLog
from memory.application.history import HistoryReader
from memory.application.memories import Memories
from memory.domain.fact_changes import MemoryChange, NotMeantError, forget, is_stated, remember, update
from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.speech import unquoted, without_pasted_text
from memory.domain.remembered import Remembered
from memory.errors import MemoryServiceError
from memory.tool_arguments import arguments
from runtime.clock import Clock
from runtime.errors import RpcError
from runtime.lifecycle.service import Service

REMEMBER = tool_service("remember", QUEUE)
FORGET = tool_service("forget", QUEUE)
UPDATE = tool_service("update_memory", QUEUE)
SOURCE = "memory"
SAID = 50
"""Newest messages of the conversation in which the words of a fact are looked for."""
MOST_NAMED = 10
"""Facts among which a caller chooses."""
_FORGET = re.compile(
    r"\b(?:forget|delete|erase|remove|clear|drop|undo|scrap|scratch|strike|disregard|never ?mind|wrong|not true|"
    r"no longer|any ?more|never said|do not remember|stop remembering|olvid\w+|borr\w+|elimin\w+|descart\w+|tach\w+|"
    r"quit\w+|deshaz|deshacer|equivoc\w+|no es (?:cierto|verdad)|ya no|no recuerdes|deja de recordar|incorrect\w*|"
    r"no quiero que (?:recuerdes|sepas))\b"
)


Method = Callable[[ToolServiceRequest], Awaitable[ToolServiceData]]


class FactData(Snake):
    """A fact and its id."""

    id: str
    fact: str


class UndoData(Snake):
    """A call that takes the change back."""

    tool: str
    arguments: dict[str, object]


class ChangeData(Snake):
    """Output of all three: what was remembered or forgotten, what it made history, and the calls that undo it."""

    facts: list[FactData]
    ended: list[FactData]
    undo: list[UndoData]
    source: str = SOURCE
    as_of: datetime


def serve(service: Service, memories: Memories, histories: HistoryReader, log: StreamLog, clock: Clock) -> None:
    tools = FactTools(memories, histories, log, clock)
    service.serve(REMEMBER, _answering(tools.remember))
    service.serve(FORGET, _answering(tools.forget))
    service.serve(UPDATE, _answering(tools.update))
    service.serve(MEMORY_OUTCOME, tools.outcome)


class FactTools:
    """Changes of single facts, for a model that acts for its user."""

    def __init__(self, memories: Memories, histories: HistoryReader, log: StreamLog, clock: Clock) -> None:
        self._memories = memories
        self._histories = histories
        self._log = log
        self._clock = clock

    async def remember(self, request: ToolServiceRequest) -> ToolServiceData:
        asked = arguments(FactArguments, request)
        await self._check_said(request.caller, asked.fact)
        return await self._changed(request, lambda held, now: remember(held, asked.fact, now))

    async def forget(self, request: ToolServiceRequest) -> ToolServiceData:
        asked = arguments(ForgetArguments, request)
        texts = await self._said(request.caller)
        before = texts[-2] if texts and len(texts) > 1 else ""
        if texts is not None and not any(_asks_to_forget(text) for text in texts[-3:]):
            raise RpcError(
                ToolCode.EXECUTION_ERROR, "the user has not asked to forget anything: ask them first",
                reason="not_asked",
            )  # fmt: skip
        return await self._changed(request, lambda held, now: forget(held, asked.what, now, before))

    async def update(self, request: ToolServiceRequest) -> ToolServiceData:
        asked = arguments(UpdateArguments, request)
        await self._check_said(request.caller, asked.fact)
        return await self._changed(request, lambda held, now: update(held, asked.id, asked.fact, now))

    async def outcome(self, request: ToolServiceRequest) -> ToolOutcome:
        """Whether a call took effect, by its id."""
        caller = request.caller
        try:
            held = await self._memories.held(caller.company_id, caller.user_id or "")
        except MemoryServiceError:
            return ToolOutcome(state="unknown")
        if request.call_id not in held.applied_requests:
            return ToolOutcome(state="not_done")
        data = ChangeData(facts=[], ended=[], undo=[], as_of=self._clock.now())
        return ToolOutcome(state="done", result=data.model_dump(mode="json"))

    async def _said(self, caller: Caller) -> list[str] | None:
        """What the user wrote, oldest first; None: the call comes from no chat."""
        if caller.conversation_id is None:
            return caller.said
        end = await self._log.end()
        found = await self._histories.newest(caller.company_id, caller.conversation_id, end, SAID, exact=True)
        if not found.messages:
            return None
        return [message.text for message in found.messages if message.role.gets_answers]

    async def _check_said(self, caller: Caller, fact: str) -> None:
        texts = await self._said(caller)
        if texts is not None and not is_stated(fact, texts):
            raise RpcError(
                ToolCode.EXECUTION_ERROR,
                "only what the user has written themselves is remembered: give the fact in their own words",
                reason="not_said",
            )

    async def _changed(
        self, request: ToolServiceRequest, change: Callable[[Remembered, datetime], MemoryChange]
    ) -> ToolServiceData:
        caller = request.caller
        if caller.user_id is None:
            raise RpcError(
                ToolCode.EXECUTION_ERROR, "nobody is signed in: there is nobody to remember", reason="no_user"
            )
        now = self._clock.now()
        made: list[MemoryChange] = []

        def apply(held: Remembered) -> Remembered:
            try:
                found = change(held, now)
            except NotMeantError as error:
                named = "; ".join(f"{fact_id(one)}: {one}" for one in error.several[:MOST_NAMED])
                message = f"{error}: give the id of one of these: {named}" if named else str(error)
                raise RpcError(ToolCode.EXECUTION_ERROR, message, reason="not_found") from None
            made[:] = [found]
            return found.state.with_request(request.call_id)

        # Under the same call's id it takes effect once; asked again, it is told without what it changed.
        await self._memories.change(caller.company_id, caller.user_id, apply, request=request.call_id)
        done = made[0] if made else MemoryChange(Remembered(), ())
        data = ChangeData(
            facts=[FactData(id=fact_id(one), fact=one) for one in done.facts],
            ended=[FactData(id=fact_id(one), fact=one) for one in done.ended],
            undo=[UndoData(tool=one.tool, arguments=one.arguments) for one in done.undo],
            as_of=now,
        )
        return ToolServiceData(result=data.model_dump(mode="json"))


def _asks_to_forget(text: str) -> bool:
    """Whether the user's own words may ask for something to be forgotten; a page's or a mail's are not theirs."""
    return _FORGET.search(normalize(unquoted(without_pasted_text(text)))) is not None


def _answering(method: Method) -> Method:
    async def answer(request: ToolServiceRequest) -> ToolServiceData:
        try:
            return await method(request)
        except MemoryServiceError as error:
            raise RpcError(ToolCode.UNAVAILABLE, str(error), retryable=True, reason="store") from error

    return answer
