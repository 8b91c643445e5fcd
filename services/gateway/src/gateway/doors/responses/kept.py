"""Kept responses: each is a message in a conversation and its outcome, live or from the log."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from contracts import ws
from contracts.completion_rpc import MAX_OUTPUT, OWN_MODEL
from contracts.conversation_rpc import MessageView
from contracts.errors import ErrorCode, FieldFault, SystemCode
from contracts.events import turn
from contracts.events.chat import Action, Role, Usage, Wishes
from contracts.memory_rpc import USAGE, UsageRequest
from gateway.adapters.service_calls import ask
from gateway.chat.customers import has_account
from gateway.chat.exchange import Ended, Event, ExchangeEnd
from gateway.chat.sent_messages import SentMessage, client_message_id
from gateway.chat.thread import Thread
from gateway.domain.budget_windows import seconds_left
from gateway.doors.approvals import action_state_text, question_text
from gateway.doors.completions.request import sampling_of
from gateway.doors.responses.names import ResponseId, action_of_approval, parse_response_id, response_id_of_item
from gateway.doors.responses.objects import new_response
from gateway.doors.responses.requests import CreateResponse, fingerprint, text_of
from gateway.doors.responses.response_events import Json, ResponseEvents
from gateway.doors.translation import Send
from gateway.errors import (
    GatewayError,
    RateLimitedError,
    RefusedError,
    TookTooLongError,
    UnavailableError,
    found,
    not_found,
)
from gateway.ports import TokenCaller
from gateway.web.deps import Api

DOOR = "responses"
_NO_WISHES = Wishes()
MINUTE = 60.0
LOOK_BACK_MINUTES = 12
"""Minutes within which a client's retry finds its first try; clients time out after ten."""


@dataclass(frozen=True, slots=True)
class ResponseCaller:
    """The caller, their address and language, and how a repeated request is recognised. `tries`: the client's own
    retry count, from 0; `accepts_approvals`: the client accepts items that ask for confirmation."""

    caller: TokenCaller
    address: str
    locale: str | None = None
    idempotency_key: str | None = None
    tries: int = 0
    accepts_approvals: bool = True


async def message_place(api: Api, client: ResponseCaller, body: CreateResponse) -> tuple[str, str]:
    """The conversation for a request and the id of its message; a repeated request gets the same.

    An Idempotency-Key or a previous response determines both. Otherwise OpenAI's clients repeat the body and count
    their tries: a first try gets a conversation named after body and minute, and a retry looks for it.
    """
    threads, caller = api.threads, client.caller
    repeat_key = client.idempotency_key or fingerprint(body)
    if body.previous_response_id is not None:
        conversation = await previous_conversation(api, caller, body.previous_response_id)
        return conversation, client_message_id(body.previous_response_id, repeat_key)
    identity = client_message_id(repeat_key)
    if client.idempotency_key is not None:
        return await threads.conversation_named(caller, DOOR, client.idempotency_key), identity
    minute = int(api.clock.now().timestamp() // MINUTE)
    for minutes_ago in range(LOOK_BACK_MINUTES if client.tries else 1):
        conversation = await threads.conversation_named(caller, DOOR, f"{repeat_key}.{minute - minutes_ago}")
        if (await threads.newest_question_seq(caller, conversation) > 0) == (client.tries > 0):
            return conversation, identity
    if client.tries:
        return await threads.conversation_named(caller, DOOR, f"{repeat_key}.{minute}"), identity
    return api.chat.access.new_conversation(caller), identity


async def previous_conversation(api: Api, caller: TokenCaller, previous_response: str) -> str:
    """The conversation that continues after this response; raises NOT_FOUND unless it exists and is the caller's."""
    try:
        response_id = parse_response_id(previous_response)
        if response_id.action is None and api.threads.was_just_sent(
            caller, response_id.conversation, response_id.question_seq
        ):
            return response_id.conversation
        with suppress(UnavailableError):  # if it cannot be checked now, the caller may write
            return await existing_conversation(api, caller, response_id)
        return response_id.conversation
    except RefusedError as error:
        fault = FieldFault(field="previous_response_id", message="there is no such response")
        raise RefusedError(error.code, fault.message, [fault]) from None


async def existing_conversation(api: Api, caller: TokenCaller, response_id: ResponseId) -> str:
    """The response's conversation; raises NOT_FOUND unless it is the caller's, and for a deleted response."""
    conversation = await own_conversation(api, caller, response_id)
    if await api.memory.withdrawn(caller.company, conversation, response_id.local_key):
        raise not_found("response")
    return conversation


async def own_conversation(api: Api, caller: TokenCaller, response_id: ResponseId) -> str:
    """The response's conversation, even if the response was deleted; raises NOT_FOUND unless it is the caller's."""
    try:
        return await api.threads.own_conversation(caller, response_id.conversation)
    except RefusedError:  # its text speaks of a conversation, which the client does not know
        raise not_found("response") from None


@dataclass(frozen=True, slots=True)
class RequestTexts:
    """The texts of a request: the user's own, and the program's instructions."""

    text: str
    instructions: str


def request_texts(body: CreateResponse) -> RequestTexts:
    """The texts of the request's items; raises RefusedError (BAD_FIELD), naming an item."""
    if isinstance(body.input, str):
        return RequestTexts(body.input, body.instructions or "")
    texts: list[str] = []
    instructions = [body.instructions] if body.instructions else []
    for index, item in enumerate(body.input):
        if item.type == "message":
            text = text_of(item.content, f"input[{index}].content")
            (texts if item.role == "user" else instructions).append(text)
    return RequestTexts("\n\n".join(texts), "\n\n".join(instructions))


def wishes_of(body: CreateResponse, texts: RequestTexts) -> Wishes | None:
    """How the client wants the message answered; None if only the company's settings apply."""
    wishes = Wishes(
        instructions=texts.instructions or None,
        model=body.model if body.model != OWN_MODEL else None,
        temperature=body.temperature,
        max_tokens=min(body.max_output_tokens, MAX_OUTPUT) if body.max_output_tokens else None,
        sampling=sampling_of(body),
        parallel_calls=False if body.parallel_tool_calls is False else None,
    )
    return wishes if wishes != _NO_WISHES else None


@dataclass
class KeptResponse:
    """A response that is built from its thread. `now`: seconds since the epoch; `notice`: why there is no answer."""

    id: ResponseId
    progress: ResponseEvents
    thread: Thread
    now: float
    notice: MessageView | None = None
    usage: Usage | None = None
    has_ended: bool = False

    def events_for(self, event: Event) -> list[Json]:
        """The protocol's events for an event of the exchange."""
        progress = self.progress
        match event:
            case turn.RunStarted():
                progress.restart()
                return []
            case turn.MessageDelta():
                return progress.add_text(event.delta)
            case turn.ToolStarted():
                return progress.tool_started(event.call_id, event.tool)
            case turn.ToolFinished():
                return progress.tool_finished(event.call_id, success=event.success)
            case turn.RunFinished():
                self.usage = event.usage
                return []
            case Ended():
                self.has_ended = True
                return self._end(event)
            case ws.MessageFrame() if self.has_ended and event.message.role is Role.OPERATOR:
                return progress.person_message(event.message.id, event.message.text)
            case _:
                return []

    def _end(self, end: Ended) -> list[Json]:
        message, progress = end.message, self.progress
        ended_at = int(message.created_at.timestamp()) if message is not None else int(self.now)
        match end.outcome:
            case ExchangeEnd.ANSWERED | ExchangeEnd.PERSON_REPLIED if message is not None:
                asks_in_words = message.waiting and not progress.accepts_approvals
                text = f"{message.text}\n\n{question_text(message.waiting)}" if asks_in_words else message.text
                events = progress.complete_text(text, message.citations)
                for action in message.waiting:
                    events += progress.approval(action)
                return events + progress.end("completed", ended_at, self.usage)
            case ExchangeEnd.NOTICE if message is not None:
                self.notice = message
                code = "rate_limit_exceeded" if message.code == SystemCode.BUDGET_SPENT else "server_error"
                return progress.end("failed", ended_at, error={"code": code, "message": message.text})
            case ExchangeEnd.CANCELLED:
                return progress.end("cancelled", ended_at)
            case _:
                owner = end.owner.kind if end.owner is not None else "nobody"
                return progress.end("incomplete", ended_at, incomplete_details={"reason": f"handed_off_to_{owner}"})


async def failure(api: Api, company: str, notice: MessageView) -> GatewayError:
    """The error for a client that waits for the whole response. If the company's tokens of the day are used up, it may
    try again on the next day; otherwise those of the user's hour are."""
    if notice.code != SystemCode.BUDGET_SPENT:
        return (TookTooLongError if notice.code == SystemCode.DEADLINE else UnavailableError)(notice.text)
    now = api.clock.now()
    try:
        request = UsageRequest(company_id=company, since=now.date(), until=now.date())
        budget = (await ask(api.rpc, USAGE, request)).budget
        is_daily = budget.daily_tokens is not None and budget.used_today >= budget.daily_tokens
    except UnavailableError:
        is_daily = False
    return RateLimitedError(notice.text, seconds_left("day" if is_daily else "hour", now), spent=True)


def open_thread(api: Api, client: ResponseCaller, conversation: str, after: int | None = None) -> Thread:
    """A thread for the conversation, to be used in an `async with` statement."""
    return api.threads.open(
        client.caller, conversation, address=client.address, locale=client.locale, after=after, door=DOOR
    )


async def begin(
    api: Api, thread: Thread, client: ResponseCaller, body: CreateResponse, texts: RequestTexts, identity: str
) -> KeptResponse:
    """Appends the message; returns the response, whose outcome is still to be followed."""
    conversation = thread.place.conversation
    stored = await thread.send(SentMessage(identity, texts.text), wishes_of(body, texts))
    if stored.duplicate and client.idempotency_key is not None:
        earlier = await api.chat.commands.message_at(thread.place, stored.seq)
        if earlier is not None and earlier.text != texts.text:
            raise RefusedError(ErrorCode.CONFLICT, "Idempotency-Key: it was used for another request; choose a new one")
    response_id = ResponseId(conversation, stored.seq)
    now = api.clock.now().timestamp()
    response = new_response(body, str(response_id), now, conversation=conversation)
    progress = ResponseEvents(response, response_id.key, accepts_approvals=client.accepts_approvals)
    return KeptResponse(response_id, progress, thread, now)


async def follow(run: KeptResponse, send: Send | None = None) -> None:
    """Follows the response to its end. `send` sends the protocol's events; those that arrive together are sent
    together."""
    first_events = run.progress.start()
    if send is not None:
        await send(first_events)
    run.thread.follow(run.id.question_seq)
    while events := await run.thread.next_events():
        response_events = [response_event for event in events for response_event in run.events_for(event)]
        if response_events and send is not None:
            await send(response_events)


@asynccontextmanager
async def resumed(
    api: Api, client: ResponseCaller, response_id: ResponseId, conversation: str, after: int = -1
) -> AsyncGenerator[KeptResponse]:
    """A response that was started before, at any gateway. `conversation`: from `own_conversation` or
    `existing_conversation`."""
    async with open_thread(api, client, conversation, response_id.question_seq - 1) as thread:
        now = api.clock.now().timestamp()
        response = new_response(None, str(response_id), now, conversation=conversation)
        yield KeptResponse(response_id, ResponseEvents(response, response_id.key, after), thread, now)


async def current_response(run: KeptResponse) -> Json:
    """The response in its current state; raises NOT_FOUND if there is no such message."""
    for event in await run.thread.events_so_far(run.id.question_seq):
        run.events_for(event)
    question = found(run.thread.question, "response")
    return {**run.progress.response, "created_at": int(question.created_at.timestamp())}


async def delete(api: Api, client: ResponseCaller, response_id: ResponseId) -> None:
    """Hides the response and stops a running answer; the messages stay in the conversation. Raises NOT_FOUND unless
    the response exists and is the caller's."""
    conversation = await existing_conversation(api, client.caller, response_id)
    async with resumed(api, client, response_id, conversation) as run:
        if response_id.action is not None:
            await stored_decision(api, client, response_id)
        elif (await current_response(run))["status"] == "in_progress":
            with suppress(RefusedError):  # then it has just ended
                await run.thread.cancel(response_id.question_seq)
        if not await api.memory.withdraw(client.caller.company, response_id.conversation, response_id.local_key):
            raise not_found("response")
        await run.thread.announce_resume(response_id.question_seq)


@dataclass(frozen=True, slots=True)
class DecisionResponse:
    """The response to a decision, as an object and as events."""

    response: Json
    events: list[Json]


async def decide(
    api: Api, client: ResponseCaller, body: CreateResponse, answers: Sequence[tuple[str, bool]]
) -> DecisionResponse:
    """Applies the answers to requests for approval; returns the response to the last one. The first decision on an
    action counts.

    Raises:
        RefusedError: NOT_FOUND, no action of the caller's waits for it, or the previous response is not theirs.
        UnavailableError: this cannot be determined now.
    """
    previous = None if body.previous_response_id is None else parse_response_id(body.previous_response_id)
    if previous is not None:
        await previous_conversation(api, client.caller, str(previous))
    if not has_account(client.caller):
        raise not_found("action waiting for a decision")
    actions = [
        await api.actions.decide(
            client.caller, action_of_approval(request_id), "confirm" if is_approved else "reject", client.locale
        )
        for request_id, is_approved in answers
    ]
    action, question_response = actions[-1], response_id_of_item(answers[-1][0])
    if question_response is None or previous is None or question_response.conversation != previous.conversation:
        question_response = previous
    response_id = (
        None
        if question_response is None
        else ResponseId(question_response.conversation, question_response.question_seq, action.id)
    )
    return await _decision_response(api, client, response_id, action, body)


async def stored_decision(
    api: Api, client: ResponseCaller, response_id: ResponseId, after: int = -1
) -> DecisionResponse:
    """The response to an earlier decision; raises NOT_FOUND unless the action is the caller's."""
    caller = client.caller
    await existing_conversation(api, caller, response_id)
    states = await api.actions.states(caller.company, caller.subject, [response_id.action or ""])
    if not states:
        raise not_found("response")
    return await _decision_response(api, client, response_id, states[0], None, after)


async def _decision_response(
    api: Api,
    client: ResponseCaller,
    response_id: ResponseId | None,
    action: Action,
    body: CreateResponse | None,
    after: int = -1,
) -> DecisionResponse:
    """A response with the action's current state. `response_id`: None if the decision belongs to no conversation."""
    language = await api.companies.language_for(client.caller.company, client.locale, action.summary)
    now = api.clock.now().timestamp()
    key, conversation = (action.id, None) if response_id is None else (response_id.key, response_id.conversation)
    progress = ResponseEvents(new_response(body, f"resp_{key}", now, conversation=conversation), key, after)
    events = [
        *progress.start(),
        *progress.complete_text(action_state_text(action, language)),
        *progress.decision(action),
    ]
    events += progress.end("completed", int(now))
    return DecisionResponse(progress.response, events)
