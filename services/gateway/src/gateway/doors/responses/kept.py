"""Kept responses: a message in a conversation and its outcome, live or from the log."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from contracts import ws
from contracts.completion_rpc import MAX_OUTPUT, OWN_MODEL
from contracts.errors import ErrorCode, FieldFault, SystemCode
from contracts.events import turn
from contracts.events.chat import Action, Role, Usage, Wishes
from gateway.chat.customers import has_account
from gateway.chat.exchange import Ended, Event, ExchangeEnd
from gateway.chat.sent_messages import SentMessage, client_message_id
from gateway.chat.thread import Thread
from gateway.doors.approvals import state_in_words
from gateway.doors.completions.request import sampling_of
from gateway.doors.responses.names import ResponseName, action_of, read_name, response_of_item
from gateway.doors.responses.objects import new_response
from gateway.doors.responses.requests import CreateResponse, fingerprint, text_of
from gateway.doors.responses.response_events import Json, ResponseEvents
from gateway.doors.translation import Tell
from gateway.errors import (
    GatewayError,
    RateLimitedError,
    RefusedError,
    TookTooLongError,
    UnavailableError,
    not_found,
)
from gateway.ports import TokenCaller
from gateway.web.deps import Api

DOOR = "responses"
_NONE = Wishes()
MINUTE = 60.0
LOOKED_BACK = 12
"""Minutes in which a client's retry finds its first try; clients time out after ten."""


@dataclass(frozen=True, slots=True)
class ResponseCaller:
    """The caller, their address and language, and how a repeat is recognised. `tries`: the client's own retry count,
    from 0; `approvals`: it accepts an item that asks for confirmation."""

    caller: TokenCaller
    address: str
    locale: str | None
    key: str | None
    tries: int
    approvals: bool = True


async def message_place(api: Api, asking: ResponseCaller, body: CreateResponse) -> tuple[str, str]:
    """The conversation, and the id of the message in it; the same for a repeated request.

    With a key (Idempotency-Key) or a previous response that is simple. Otherwise OpenAI's clients repeat the body and
    count their tries: a first try gets a conversation named by body and minute, and a retry looks for it.
    """
    threads, caller = api.threads, asking.caller
    repeat = asking.key or fingerprint(body)
    if body.previous_response_id is not None:
        conversation = await previous(api, caller, body.previous_response_id)
        return conversation, client_message_id(body.previous_response_id, repeat)
    identity = client_message_id(repeat)
    if asking.key is not None:
        return await threads.conversation_named(caller, DOOR, asking.key), identity
    minute = int(api.clock.now().timestamp() // MINUTE)
    for back in range(LOOKED_BACK if asking.tries else 1):
        conversation = await threads.conversation_named(caller, DOOR, f"{repeat}.{minute - back}")
        if (await threads.newest_question_seq(caller, conversation) > 0) == (asking.tries > 0):
            return conversation, identity
    if asking.tries:
        return await threads.conversation_named(caller, DOOR, f"{repeat}.{minute}"), identity
    return threads.new_conversation(caller), identity


async def previous(api: Api, caller: TokenCaller, response: str) -> str:
    """The conversation that continues after this response; raises NOT_FOUND unless it exists and is the caller's."""
    try:
        name = read_name(response)
        if name.action is None and api.threads.was_just_sent(caller, name.conversation, name.asked):
            return name.conversation
        with suppress(UnavailableError):  # whoever cannot tell now lets the caller write
            return await existing_conversation(api, caller, name)
        return name.conversation
    except RefusedError as error:
        fault = FieldFault(field="previous_response_id", message="there is no such response")
        raise RefusedError(error.code, fault.message, [fault]) from None


async def existing_conversation(api: Api, caller: TokenCaller, name: ResponseName) -> str:
    """Returns the response's conversation; raises NOT_FOUND unless it is the caller's, and for a deleted response."""
    conversation = await own_conversation(api, caller, name)
    if await api.memory.withdrawn(caller.company, conversation, name.within):
        raise not_found("response")
    return conversation


async def own_conversation(api: Api, caller: TokenCaller, name: ResponseName) -> str:
    """Returns the response's conversation, even if it was deleted; raises NOT_FOUND unless it is the caller's."""
    try:
        return await api.threads.own_conversation(caller, name.conversation)
    except RefusedError:  # whose client has never heard of a conversation
        raise not_found("response") from None


@dataclass(frozen=True, slots=True)
class RequestWords:
    """The parts of a request: messages of people, and wishes of the program."""

    text: str
    instructions: str


def request_words(body: CreateResponse) -> RequestWords:
    """The request's items by kind; raises RefusedError BAD_FIELD, naming one."""
    if isinstance(body.input, str):
        return RequestWords(body.input, body.instructions or "")
    texts: list[str] = []
    instructions = [body.instructions] if body.instructions else []
    for index, item in enumerate(body.input):
        if item.type == "message":
            text = text_of(item.content, f"input[{index}].content")
            (texts if item.role == "user" else instructions).append(text)
    return RequestWords("\n\n".join(texts), "\n\n".join(instructions))


def wishes_of(body: CreateResponse, said: RequestWords) -> Wishes | None:
    """Returns how the message is to be answered; None if the company's settings apply."""
    wishes = Wishes(
        instructions=said.instructions or None,
        model=body.model if body.model != OWN_MODEL else None,
        temperature=body.temperature,
        max_tokens=min(body.max_output_tokens, MAX_OUTPUT) if body.max_output_tokens else None,
        sampling=sampling_of(body),
        parallel_calls=False if body.parallel_tool_calls is False else None,
    )
    return wishes if wishes != _NONE else None


@dataclass
class KeptResponse:
    """A response told from its thread. `failed`: why there is no answer, for a client that waits for the whole."""

    name: ResponseName
    telling: ResponseEvents
    thread: Thread
    now: float
    failed: GatewayError | None = None
    usage: Usage | None = None
    ended: bool = False

    def tell(self, event: Event) -> list[Json]:
        """The protocol's events for one of the conversation."""
        telling = self.telling
        match event:
            case turn.RunStarted():
                telling.restart()
                return []
            case turn.MessageDelta():
                return telling.text(event.delta)
            case turn.ToolStarted():
                return telling.tool_started(event.call_id, event.tool)
            case turn.ToolFinished():
                return telling.tool_finished(event.call_id, success=event.success)
            case turn.RunFinished():
                self.usage = event.usage
                return []
            case Ended():
                self.ended = True
                return self._end(event)
            case ws.MessageFrame() if self.ended and event.message.role is Role.OPERATOR:
                return telling.spoken(event.message.id, event.message.text)
            case _:
                return []

    def _end(self, end: Ended) -> list[Json]:
        message, telling = end.message, self.telling
        at = int(message.created_at.timestamp()) if message is not None else int(self.now)
        match end.outcome:
            case ExchangeEnd.ANSWERED | ExchangeEnd.PERSON_REPLIED if message is not None:
                questions = () if telling.approvals else [f"\n\n{action.summary}?" for action in message.waiting]
                told = telling.whole("".join((message.text, *questions)), message.citations)
                for action in message.waiting:
                    told += telling.approval(action)
                return told + telling.end("completed", at, self.usage)
            case ExchangeEnd.NOTICE if message is not None:
                self.failed = _failure(message.code, message.text)
                code = "rate_limit_exceeded" if message.code == SystemCode.BUDGET_SPENT else "server_error"
                return telling.end("failed", at, error={"code": code, "message": message.text})
            case ExchangeEnd.CANCELLED:
                return telling.end("cancelled", at)
            case _:
                owner = end.owner.kind if end.owner is not None else "nobody"
                return telling.end("incomplete", at, incomplete_details={"reason": f"handed_off_to_{owner}"})


def _failure(code: str | None, text: str) -> GatewayError:
    if code == SystemCode.BUDGET_SPENT:
        return RateLimitedError(text, 60.0, spent=True)
    return TookTooLongError(text) if code == SystemCode.DEADLINE else UnavailableError(text)


def thread_of(api: Api, asking: ResponseCaller, conversation: str, after: int | None = None) -> Thread:
    """The conversation's thread, to be entered."""
    return api.threads.open(
        asking.caller, conversation, address=asking.address, locale=asking.locale, after=after, door=DOOR
    )


async def begin(
    api: Api, thread: Thread, asking: ResponseCaller, body: CreateResponse, said: RequestWords, identity: str
) -> KeptResponse:
    """Appends the message; its outcome follows."""
    conversation = thread.place.conversation
    stored = await thread.send(SentMessage(identity, said.text), wishes_of(body, said))
    if stored.duplicate and asking.key is not None:
        earlier = await api.commands.message_at(thread.place, stored.seq)
        if earlier is not None and earlier.text != said.text:
            raise RefusedError(ErrorCode.CONFLICT, "Idempotency-Key: it was used for another request; choose a new one")
    name = ResponseName(conversation, stored.seq)
    now = api.clock.now().timestamp()
    begun = new_response(body, str(name), now, conversation=conversation)
    telling = ResponseEvents(begun, name.place, approvals=asking.approvals)
    return KeptResponse(name, telling, thread, now)


async def follow(run: KeptResponse, tell: Tell | None = None) -> None:
    """Follows it to its end. `tell` sends the protocol's events, those of one moment together."""
    begun = run.telling.begin()
    if tell is not None:
        await tell(begun)
    run.thread.follow(run.name.asked)
    while events := await run.thread.next_events():
        told = [one for event in events for one in run.tell(event)]
        if told and tell is not None:
            await tell(told)


def resume(api: Api, thread: Thread, name: ResponseName, after: int = -1) -> KeptResponse:
    """Continues a response begun anywhere; the thread (of `own_conversation` or
    `existing_conversation`) follows what comes after its message."""
    now = api.clock.now().timestamp()
    begun = new_response(None, str(name), now, conversation=name.conversation)
    return KeptResponse(name, ResponseEvents(begun, name.place, after), thread, now)


async def current_response(run: KeptResponse) -> Json:
    """The response as it is now; raises NOT_FOUND if there is no such message."""
    for event in await run.thread.events_so_far(run.name.asked):
        run.tell(event)
    question = run.thread.question
    if question is None:
        raise not_found("response")
    return {**run.telling.response, "created_at": int(question.created_at.timestamp())}


async def delete(api: Api, asking: ResponseCaller, name: ResponseName) -> None:
    """Hides the response and stops a running answer. The messages stay in the conversation. Raises NOT_FOUND unless
    it exists and is the caller's."""
    async with thread_of(api, asking, await existing_conversation(api, asking.caller, name), name.asked - 1) as thread:
        run = resume(api, thread, name)
        if name.action is not None:
            await stored_decision(api, asking, name)
        elif (await current_response(run))["status"] == "in_progress":
            with suppress(RefusedError):  # it has just ended
                await run.thread.cancel(name.asked)
        if not await api.memory.withdraw(asking.caller.company, name.conversation, name.within):
            raise not_found("response")
        await run.thread.announce_resume(name.asked)


@dataclass(frozen=True, slots=True)
class DecisionTold:
    """The response to a decision, and the events that tell it."""

    response: Json
    events: list[Json]


async def decide(
    api: Api, asking: ResponseCaller, body: CreateResponse, answers: Sequence[tuple[str, bool]]
) -> DecisionTold:
    """Answers to requests for approval: the response to the last of them. The first decision counts.

    Raises:
        RefusedError: NOT_FOUND, nothing of the caller's waits for it, or the previous response is not theirs.
        UnavailableError: this cannot be determined now.
    """
    before = None if body.previous_response_id is None else read_name(body.previous_response_id)
    if before is not None:
        await previous(api, asking.caller, str(before))
    if not has_account(asking.caller):
        raise not_found("action waiting for a decision")
    decided = [
        await api.actions.decide(asking.caller, action_of(one), "confirm" if yes else "reject", asking.locale)
        for one, yes in answers
    ]
    action, asked = decided[-1], response_of_item(answers[-1][0])
    if asked is None or before is None or asked.conversation != before.conversation:
        asked = before
    name = None if asked is None else ResponseName(asked.conversation, asked.asked, action.id)
    return await _decision(api, asking, name, action, body)


async def stored_decision(api: Api, asking: ResponseCaller, name: ResponseName, after: int = -1) -> DecisionTold:
    """A decision's response, later; raises NOT_FOUND unless the action is the caller's."""
    caller = asking.caller
    await existing_conversation(api, caller, name)
    known = await api.actions.states(caller.company, caller.subject, [name.action or ""])
    if not known:
        raise not_found("response")
    return await _decision(api, asking, name, known[0], None, after)


async def _decision(
    api: Api,
    asking: ResponseCaller,
    name: ResponseName | None,
    action: Action,
    body: CreateResponse | None,
    after: int = -1,
) -> DecisionTold:
    """How the action stands. Without a name the decision is kept in no conversation."""
    language = await api.companies.language_for(asking.caller.company, asking.locale, action.summary)
    now = api.clock.now().timestamp()
    place, conversation = (action.id, None) if name is None else (name.place, name.conversation)
    telling = ResponseEvents(new_response(body, f"resp_{place}", now, conversation=conversation), place, after)
    events = [*telling.begin(), *telling.whole(state_in_words(action, language)), *telling.decided(action)]
    events += telling.end("completed", int(now))
    return DecisionTold(telling.response, events)
