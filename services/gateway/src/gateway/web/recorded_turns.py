"""Recorded turns: explaining an answer, replaying it with another model or prompt, making it an evaluation case."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import ID_PATTERN, answer_id
from contracts.preview_rpc import EXPLAIN, ExplainedTurn, ExplainRequest, TurnRequest
from contracts.replay_rpc import CASE, REPLAY, ComparedTurn, MadeCase, ReplayRequest
from gateway.adapters.service_calls import TRY_OUT_SECONDS, ask
from gateway.errors import found
from gateway.ports import TokenCaller
from gateway.web.deps import AdminDep, Api, ApiDep, ConversationPath, OperatorDep
from gateway.web.problems import described

router = APIRouter(prefix="/v2/conversations/{conversationId}/turns/{turnId}", tags=["conversations"])
_RECORD = "record of this turn"
TurnPath = Annotated[str, Path(alias="turnId", pattern=ID_PATTERN)]


class ReplayWish(Wire):
    """What to change; anything left out stays as recorded."""

    model: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="a configured model: its name, `provider:name`, or `offline`",
    )
    prompt: str | None = Field(
        default=None, max_length=8000, description="instead of the company's own (`customSystemPrompt`)"
    )


@router.get("", response_model_exclude_none=True, responses=described(404))
async def explain_turn(
    api: ApiDep, caller: OperatorDep, conversation: ConversationPath, turn: TurnPath
) -> ExplainedTurn:
    """How an answer came about: model, settings, tools, pages, tokens, cost, time. Kept for 30 days."""
    turn_request = await _turn_request(api, caller, conversation, turn)
    return found((await ask(api.rpc, EXPLAIN, ExplainRequest(**turn_request.model_dump()))).turn, _RECORD)


@router.post("/replay", response_model_exclude_none=True, responses=described(404, 429))
async def replay_turn(
    api: ApiDep, caller: AdminDep, conversation: ConversationPath, turn: TurnPath, body: ReplayWish
) -> ComparedTurn:
    """Replays the turn with another model or prompt, beside the original answer. No tool is called and nothing is
    stored: results come from the record. Model calls cost money."""
    turn_request = await _turn_request(api, caller, conversation, turn)
    request = ReplayRequest(**turn_request.model_dump(), model=body.model, prompt=body.prompt)
    return found((await ask(api.rpc, REPLAY, request, deadline=TRY_OUT_SECONDS)).turn, _RECORD)


@router.get("/case", responses=described(404))
async def make_case(api: ApiDep, caller: AdminDep, conversation: ConversationPath, turn: TurnPath) -> MadeCase:
    """The turn as a case of `nexus eval`: the question, and the tools used in the answer."""
    return found((await ask(api.rpc, CASE, await _turn_request(api, caller, conversation, turn))).case, _RECORD)


async def _turn_request(api: Api, caller: TokenCaller, conversation: str, turn: str) -> TurnRequest:
    """The request for a turn, with its user and the time of its answer, by which its record is found. Raises
    NOT_FOUND."""
    await api.chat.access.check_watchable(caller, conversation)
    view = await api.memory.conversation(caller.company, conversation)
    answer = found(await api.memory.message(caller.company, conversation, answer_id(turn)), _RECORD)
    return TurnRequest(
        company_id=caller.company,
        conversation_id=conversation,
        turn_id=turn,
        user_id=view.visitor.id if view is not None else None,
        answered_at=answer.created_at,
    )
