"""Serves the tools remember, forget and update_memory to the tool-executor, which has checked the caller.

In a chat only what the user has written counts: a fact must be in one of their own statements, and something is
forgotten only if they ask for it. So no page, headline or tool result can make a model remember or forget anything.
"""

import re
from collections.abc import Awaitable, Callable
from datetime import datetime

from contracts.errors import ToolCode
from contracts.memory_rpc import QUEUE, fact_id
from contracts.tools.memory import ChangeData, FactArguments, FactData, ForgetArguments, UndoData, UpdateArguments
from contracts.tools_rpc import MEMORY_OUTCOME, Caller, ToolOutcome, ToolServiceData, ToolServiceRequest, tool_service
from memory.adapters.chat_log import StreamLog
from memory.application.history import HistoryReader
from memory.application.memories import Memories
from memory.domain.fact_changes import MemoryChange, UnclearReferenceError, forget, is_stated, remember, update
from memory.domain.long_term.concepts import normalize
from memory.domain.long_term.pasted import unquoted, without_pasted_text
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
MAX_MESSAGES = 50
"""Newest messages of the conversation in which the words of a fact are looked for."""
MAX_CHOICES = 10
"""Facts at most among which a caller is asked to choose."""
_FORGET = re.compile(
    r"\b(?:forget|delete|erase|remove|clear(?= (?:it|that|this|all|every\w+|what|my|the|your)\b)|drop|undo|scrap|"
    r"scratch|strike|disregard|never ?mind|wrong|not true|no longer|any ?more|never said|do not remember|"
    r"stop remembering|olvid\w+|borr\w+|elimin\w+|descart\w+|tach\w+|quit\w+|deshaz|deshacer|equivoc\w+|"
    r"no es (?:cierto|verdad)|ya no|no recuerdes|deja de recordar|incorrect\w*|no quiero que (?:recuerdes|sepas))\b"
)
_KEEP = re.compile(
    r"\b(?:not|never|nor) (?:ever )?(?:forget|delete|erase|remove|drop|clear)\b|"
    r"\b(?:no|nunca|jamas|ni) (?:(?:lo|la|los|las|me|te|se) )*(?:olvid(?:es|are|o|ar)|(?:borr|elimin|quit|tach)es)\b"
)
_ASKS_FOR = re.compile(
    r"\b(?:can|could|will|would|can ?not) you\b|\bplease\b|\bpor favor\b|\b(?:puedes|podrias|podes|podria|puede)\b|"
    r"^\W*(?:(?:and|y|oye|hey|ok|vale),? )*(?:me |te |lo |la )*(?:forget|delete|erase|remove|drop|olvid|borr|elimin|"
    r"quit)"
)
"""A question that is a request; others ask what would be."""
_SENTENCE_END = re.compile(r"(?<=[.!?;\n])\s+")

Method = Callable[[ToolServiceRequest], Awaitable[ToolServiceData]]


def serve(service: Service, memories: Memories, histories: HistoryReader, log: StreamLog, clock: Clock) -> None:
    tools = FactTools(memories, histories, log, clock)
    service.serve(REMEMBER, _with_store_errors(tools.remember))
    service.serve(FORGET, _with_store_errors(tools.forget))
    service.serve(UPDATE, _with_store_errors(tools.update))
    service.serve(MEMORY_OUTCOME, tools.outcome)


class FactTools:
    """Changes single facts for a model that acts for its user."""

    def __init__(self, memories: Memories, histories: HistoryReader, log: StreamLog, clock: Clock) -> None:
        self._memories = memories
        self._histories = histories
        self._log = log
        self._clock = clock

    async def remember(self, request: ToolServiceRequest) -> ToolServiceData:
        parsed = arguments(FactArguments, request)
        await self._require_stated(request.caller, parsed.fact)
        return await self._apply(request, lambda remembered, now: remember(remembered, parsed.fact, now))

    async def forget(self, request: ToolServiceRequest) -> ToolServiceData:
        parsed = arguments(ForgetArguments, request)
        texts = await self._user_texts(request.caller)
        previous_text = texts[-2] if texts and len(texts) > 1 else ""
        if texts is not None and not any(_asks_to_forget(text) for text in texts[-3:]):
            raise RpcError(
                ToolCode.EXECUTION_ERROR, "the user has not asked to forget anything: ask them first",
                reason="not_asked",
            )  # fmt: skip
        return await self._apply(request, lambda remembered, now: forget(remembered, parsed.what, now, previous_text))

    async def update(self, request: ToolServiceRequest) -> ToolServiceData:
        parsed = arguments(UpdateArguments, request)
        await self._require_stated(request.caller, parsed.fact)
        return await self._apply(request, lambda remembered, now: update(remembered, parsed.id, parsed.fact, now))

    async def outcome(self, request: ToolServiceRequest) -> ToolOutcome:
        """Whether the call with this id took effect."""
        caller = request.caller
        try:
            remembered = await self._memories.held(caller.company_id, caller.user_id or "")
        except MemoryServiceError:
            return ToolOutcome(state="unknown")
        if request.call_id not in remembered.applied_requests:
            return ToolOutcome(state="not_done")
        data = ChangeData(facts=[], ended=[], undo=[], source=SOURCE, as_of=self._clock.now())
        return ToolOutcome(state="done", result=data.model_dump(mode="json"))

    async def _user_texts(self, caller: Caller) -> list[str] | None:
        """What the user wrote, oldest first; None if the call does not come from a chat."""
        if caller.conversation_id is None:
            return caller.said
        end = await self._log.end()
        history = await self._histories.newest(caller.company_id, caller.conversation_id, end, MAX_MESSAGES, exact=True)
        if not history.messages:
            return None
        return [message.text for message in history.messages if message.role.gets_answers]

    async def _require_stated(self, caller: Caller, fact: str) -> None:
        user_texts = await self._user_texts(caller)
        if user_texts is not None and not is_stated(fact, user_texts):
            raise RpcError(
                ToolCode.EXECUTION_ERROR,
                "only what the user has written themselves is remembered: give the fact in their own words",
                reason="not_said",
            )

    async def _apply(
        self, request: ToolServiceRequest, change: Callable[[Remembered, datetime], MemoryChange]
    ) -> ToolServiceData:
        caller = request.caller
        if caller.user_id is None:
            raise RpcError(
                ToolCode.EXECUTION_ERROR, "nobody is signed in: there is nobody to remember", reason="no_user"
            )
        now = self._clock.now()
        changes: list[MemoryChange] = []

        def apply(remembered: Remembered) -> Remembered:
            try:
                applied_change = change(remembered, now)
            except UnclearReferenceError as error:
                choices = "; ".join(f"{fact_id(candidate)}: {candidate}" for candidate in error.several[:MAX_CHOICES])
                message = f"{error}: give the id of one of these: {choices}" if choices else str(error)
                raise RpcError(ToolCode.EXECUTION_ERROR, message, reason="not_found") from None
            changes[:] = [applied_change]
            return applied_change.state.with_request(request.call_id)

        # A call takes effect once by its id; the reply to a repeat does not contain what it changed.
        await self._memories.change(caller.company_id, caller.user_id, apply, request=request.call_id)
        applied = changes[0] if changes else MemoryChange(Remembered(), ())
        data = ChangeData(
            source=SOURCE,
            facts=[FactData(id=fact_id(fact), fact=fact) for fact in applied.facts],
            ended=[FactData(id=fact_id(fact), fact=fact) for fact in applied.ended],
            undo=[UndoData(tool=call.tool, arguments=call.arguments) for call in applied.undo],
            as_of=now,
        )
        return ToolServiceData(result=data.model_dump(mode="json"))


def _asks_to_forget(text: str) -> bool:
    """Whether the user's own words may ask to forget something; quotes and pasted text are not their own words."""
    sentences = _SENTENCE_END.split(unquoted(without_pasted_text(text)))
    return any(
        _FORGET.search(_KEEP.sub(" ", sentence)) and ("?" not in sentence or _ASKS_FOR.search(sentence))
        for sentence in map(normalize, sentences)
    )


def _with_store_errors(method: Method) -> Method:
    async def answer(request: ToolServiceRequest) -> ToolServiceData:
        try:
            return await method(request)
        except MemoryServiceError as error:
            raise RpcError(ToolCode.UNAVAILABLE, str(error), retryable=True, reason="store") from error

    return answer
