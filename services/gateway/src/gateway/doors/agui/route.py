"""POST /v2/ag-ui: a run of AG-UI 1.0. The same messages again are the same run, whose outcome is shown again."""

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
from gateway.doors.agui.events import Json, sent
from gateway.doors.agui.request import ResumeEntry, RunAgentInput
from gateway.doors.agui.run import AguiRun, outcome_of
from gateway.doors.approvals import actions_in, newest_messages
from gateway.doors.client_tools import wishes_in
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
    new, given, wishes = body.new_messages(), body.results(), wishes_in(body.tools or (), schema="parameters")
    run = AguiRun(body.thread_id, body.run_id, body.messages, given)
    locale = named_language(accept_language)
    conversation = await api.threads.conversation_named(caller, DOOR, body.thread_id)
    place = ConversationPlace(caller, conversation)
    first = run.begin()
    asked = await api.threads.newest_question_seq(caller, conversation) if not new else 0
    address = client_address(request.scope)
    async with api.threads.open(
        caller, conversation, address=address, locale=locale, after=asked or None, door=DOOR
    ) as thread:
        try:
            decided = await _decided(api, place, body.resume or (), new, locale)
            known = await api.handed.store_results(place.company, conversation, given) if given else None
            if known == frozenset() and not new:
                raise RefusedError(ErrorCode.NOT_FOUND, "no call of this thread waits for such a result")
        except RefusedError as error:
            # What is wrong with an answer to an interrupt or a call is an event: the protocol knows no other error.
            return _ended([*first, *run.fail(str(error.code), await thread.error_text(error))])
        for one in new:
            asked = (await thread.send(one, wishes)).seq
        if not new and not known:
            shown = await newest_messages(api, place, [action.id for action in decided])
            first += run.show(shown)
            if decided:
                result = {"actions": [action.to_wire() for action in decided]}
                return _ended([*first, *run.finish(result=result)])
            if asked == 0 or not await api.threads.is_unanswered(caller, conversation):
                outcome = outcome_of(shown[-1]) if shown else {"type": "success"}
                return _ended([*first, *run.finish(outcome)])
        return EventStream(partial(_tell, thread.detach(), asked, run, first))


def _ended(events: Sequence[Json]) -> EventStream:
    return EventStream(lambda write: write(sent(events)))


async def _tell(thread: Thread, asked: int, run: AguiRun, first: Sequence[Json], write: Write) -> None:
    """Writes the outcome of the message at `asked`, as it happens."""
    try:
        await write(sent(first))
        await translate(thread, asked, run, lambda told: write(sent(told)))
    except GatewayError as error:
        await write(sent(run.fail(str(error.code), await thread.error_text(error), error.wait)))
    finally:
        if not run.ended:
            # HttpAgent.abortRun is "Cancels the current HTTP request": the protocol has no other cancel.
            thread.stop_in_background(asked)
        await thread.end()


async def _decided(
    api: Api,
    place: ConversationPlace,
    answers: Sequence[ResumeEntry],
    new: Sequence[SentMessage],
    locale: str | None,
) -> list[Action]:
    """The actions that the run's answers decide. Either all of them can be decided, or none is.

    Raises:
        RefusedError: NOT_FOUND, no such interrupt in this thread; CONFLICT, one is open that the run does not answer,
            or has expired; BAD_FIELD.
        UnavailableError: this cannot be determined now.
    """
    caller = place.caller
    if not has_account(caller):
        if answers:
            raise _no_interrupt(answers[0].interrupt_id)
        return []
    if not answers and not (
        api.threads.may_have_actions(caller, place.conversation) and await _something_waits(api, caller)
    ):
        return []
    yes = {answer.interrupt_id: answer.approved for answer in answers}
    asked = actions_in(await newest_messages(api, place, yes))
    edits = {answer.interrupt_id: answer.edits for answer in answers}
    if len(yes) < len(answers):
        raise RefusedError(ErrorCode.BAD_FIELD, "resume: answer each interrupt once")
    for identity, approved in yes.items():
        if identity not in asked:
            raise _no_interrupt(identity)
        state = asked[identity].state
        if edits[identity] is not None and state is ActionState.PENDING and not asked[identity].editable:
            raise RefusedError(ErrorCode.BAD_FIELD, f"resume: nothing of the interrupt {identity} may be changed")
        if approved and state is ActionState.EXPIRED:
            raise RefusedError(ErrorCode.CONFLICT, f"the interrupt {identity} has expired")
    open_ones = [one.id for one in asked.values() if one.state is ActionState.PENDING and one.id not in yes]
    if open_ones and not await _were_sent(api, place, new):
        raise RefusedError(ErrorCode.CONFLICT, f"answer what waits first: resume must name {', '.join(open_ones)}")
    decide = api.actions.decide
    return [
        await decide(caller, identity, "confirm" if approved else "reject", locale, edits[identity])
        for identity, approved in yes.items()
    ]


async def _something_waits(api: Api, caller: TokenCaller) -> bool:
    """Whether an action may be waiting; no if the market does not answer, since a question must not wait for it."""
    try:
        return bool(await api.actions.pending(caller.company, caller.subject))
    except UnavailableError:
        return False


async def _were_sent(api: Api, place: ConversationPlace, new: Sequence[SentMessage]) -> bool:
    """Whether it contains nothing new: a repeated run shows its interrupt again."""
    return all([await api.commands.find_sent(place, one.identity) for one in new])


def _no_interrupt(identity: str) -> RefusedError:
    return RefusedError(ErrorCode.NOT_FOUND, f"there is no interrupt {identity[:80]!r} in this thread")
