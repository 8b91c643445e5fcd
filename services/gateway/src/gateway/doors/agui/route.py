"""POST /v2/ag-ui: a run of AG-UI 1.0. A repeated request with the same messages gets the same outcome."""

from collections.abc import Sequence
from functools import partial

from fastapi import APIRouter, Request

from contracts.errors import ErrorCode
from contracts.events.chat import Action, ActionState
from contracts.languages import named_language
from gateway.chat.commands import ConversationPlace
from gateway.chat.customers import has_account
from gateway.chat.sent_messages import SentMessage
from gateway.chat.thread import Thread
from gateway.doors.agui.events import Json, encoded
from gateway.doors.agui.request import ResumeEntry, RunAgentInput
from gateway.doors.agui.run import AguiRun, outcome_of
from gateway.doors.approvals import actions_in, newest_messages
from gateway.doors.client_tools import wishes_with_tools
from gateway.doors.door_route import DoorRoute
from gateway.doors.translation import translate
from gateway.errors import GatewayError, RefusedError, UnavailableError
from gateway.ports import TokenCaller
from gateway.web.chat_endpoint import client_address
from gateway.web.deps import Api, ApiDep, CallerDep
from gateway.web.keepalive import EventStream, Write
from gateway.web.problems import described
from gateway.web.words import AcceptLanguage

router = APIRouter(tags=["ag-ui"], route_class=DoorRoute)

DOOR = "ag-ui"


@router.post(
    "/v2/ag-ui",
    response_class=EventStream,
    status_code=200,
    responses=described(404, 429)
    | {
        200: {
            "description": "The run's events as server-sent events, from RUN_STARTED to RUN_FINISHED or RUN_ERROR",
            "content": {"text/event-stream": {}},
        }
    },
)
async def run_agent(
    request: Request, api: ApiDep, caller: CallerDep, body: RunAgentInput, accept_language: AcceptLanguage = None
) -> EventStream:
    """Answers the user's newest messages in the thread. Hanging up stops the answer."""
    messages, results, wishes = (
        body.new_messages(),
        body.results(),
        wishes_with_tools(body.tools or (), schema="parameters"),
    )
    run = AguiRun(body.thread_id, body.run_id, body.messages, results)
    locale = named_language(accept_language)
    conversation = await api.threads.conversation_named(caller, DOOR, body.thread_id)
    place = ConversationPlace(caller, conversation)
    first_events = run.start()
    question_seq = await api.threads.newest_question_seq(caller, conversation) if not messages else 0
    address = client_address(request.scope)
    async with api.threads.open(
        caller, conversation, address=address, locale=locale, after=question_seq or None, door=DOOR
    ) as thread:
        try:
            decided_actions = await _decide_actions(api, place, body.resume or (), messages, locale)
            known_calls = await api.handed.store_results(place.company, conversation, results) if results else None
            if known_calls == frozenset() and not messages:
                raise RefusedError(ErrorCode.NOT_FOUND, "no call of this thread waits for such a result")
        except RefusedError as error:
            # A wrong answer to an interrupt or a call is reported by an event: the protocol has no other errors.
            return _finished_stream([*first_events, *run.fail(str(error.code), await thread.error_text(error))])
        for message in messages:
            question_seq = (await thread.send(message, wishes)).seq
        if not messages and not known_calls:
            shown_messages = await newest_messages(api, place, [action.id for action in decided_actions])
            first_events += run.show_conversation(shown_messages)
            if decided_actions:
                result = {"actions": [action.to_wire() for action in decided_actions]}
                return _finished_stream([*first_events, *run.finish(result=result)])
            if question_seq == 0 or not await api.threads.is_unanswered(caller, conversation):
                outcome = outcome_of(shown_messages[-1]) if shown_messages else {"type": "success"}
                return _finished_stream([*first_events, *run.finish(outcome)])
        return EventStream(partial(_write_run, thread.detach(), question_seq, run, first_events))


def _finished_stream(events: Sequence[Json]) -> EventStream:
    return EventStream(lambda write: write(encoded(events)))


async def _write_run(
    thread: Thread, question_seq: int, run: AguiRun, first_events: Sequence[Json], write: Write
) -> None:
    """Writes the first events, then the outcome of the message at `question_seq` as it happens; ends the thread."""
    try:
        await write(encoded(first_events))
        await translate(thread, question_seq, run, lambda agui_events: write(encoded(agui_events)))
    except GatewayError as error:
        await write(encoded(run.fail(str(error.code), await thread.error_text(error), error.wait)))
    finally:
        if not run.has_ended:
            # HttpAgent.abortRun is "Cancels the current HTTP request": the protocol has no other cancel.
            thread.stop_in_background(question_seq)
        await thread.end()


async def _decide_actions(
    api: Api,
    place: ConversationPlace,
    answers: Sequence[ResumeEntry],
    messages: Sequence[SentMessage],
    locale: str | None,
) -> list[Action]:
    """Decides the actions that the run's answers name, and returns them. None is decided unless all can be.

    Raises:
        RefusedError: NOT_FOUND, there is no such interrupt in this thread; CONFLICT, an interrupt has expired, or the
            run leaves one unanswered; BAD_FIELD.
        UnavailableError: this cannot be determined now.
    """
    caller = place.caller
    if not has_account(caller):
        if answers:
            raise _no_interrupt(answers[0].interrupt_id)
        return []
    if not answers and not (
        api.threads.may_have_actions(caller, place.conversation) and await _has_pending_actions(api, caller)
    ):
        return []
    approvals = {answer.interrupt_id: answer.approved for answer in answers}
    actions = actions_in(await newest_messages(api, place, approvals))
    edits = {answer.interrupt_id: answer.edits for answer in answers}
    if len(approvals) < len(answers):
        raise RefusedError(ErrorCode.BAD_FIELD, "resume: answer each interrupt once")
    for action_id, approved in approvals.items():
        if action_id not in actions:
            raise _no_interrupt(action_id)
        state = actions[action_id].state
        if edits[action_id] is not None and state is ActionState.PENDING and not actions[action_id].editable:
            raise RefusedError(ErrorCode.BAD_FIELD, f"resume: nothing of the interrupt {action_id} may be changed")
        if approved and state is ActionState.EXPIRED:
            raise RefusedError(ErrorCode.CONFLICT, f"the interrupt {action_id} has expired")
    unanswered = [
        action.id for action in actions.values() if action.state is ActionState.PENDING and action.id not in approvals
    ]
    if unanswered and not await _are_stored(api, place, messages):
        raise RefusedError(ErrorCode.CONFLICT, f"answer what waits first: resume must name {', '.join(unanswered)}")
    decide = api.actions.decide
    return [
        await decide(caller, action_id, "confirm" if approved else "reject", locale, edits[action_id])
        for action_id, approved in approvals.items()
    ]


async def _has_pending_actions(api: Api, caller: TokenCaller) -> bool:
    """Whether actions are pending; False if the market does not answer, since a question must not wait for it."""
    try:
        return bool(await api.actions.pending(caller.company, caller.subject))
    except UnavailableError:
        return False


async def _are_stored(api: Api, place: ConversationPlace, messages: Sequence[SentMessage]) -> bool:
    """Whether all these messages are stored already: a repeated run shows its interrupt again."""
    return all([await api.chat.commands.find_sent(place, message.identity) for message in messages])


def _no_interrupt(identity: str) -> RefusedError:
    return RefusedError(ErrorCode.NOT_FOUND, f"there is no interrupt {identity[:80]!r} in this thread")
