"""/v2/knowledge/answers and /gaps: questions with written answers, and questions without a good one."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response
from fastapi import Body as FromBody
from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from contracts import knowledge_rpc
from contracts.ids import ID_PATTERN
from contracts.plain_text import LINE, PlainText
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.errors import found, not_found
from gateway.web.deps import AdminDep, ApiDep, OperatorDep
from gateway.web.free_json import check_json, merge_patch_body
from gateway.web.knowledge import Body
from gateway.web.pagination import Limit, PageCursor, page
from gateway.web.problems import described
from gateway.web.response_headers import described_headers

router = APIRouter(prefix="/v2/knowledge", tags=["knowledge"])

NamePath = Annotated[str, Path(alias="id", pattern=ID_PATTERN)]
_MERGE_PATCH = merge_patch_body("a merge patch (RFC 7396) of the pair")


class AnswerBody(knowledge_rpc.AnswerDraft):
    """A question, other ways to ask it, and the answer, given word for word; in one language."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")


class GapBody(Body):
    """Either an answer, which turns the gap into a question-and-answer pair, or dismiss."""

    answer: Annotated[str, Field(min_length=1, max_length=4000), PlainText(lines=True)] | None = None
    question: Annotated[str, Field(min_length=1, max_length=500), LINE] | None = Field(
        default=None, description="in better words"
    )
    dismiss: bool = False


@router.get("/answers", response_model=knowledge_rpc.AnswersReply, responses=described())
async def list_answers(api: ApiDep, caller: OperatorDep, limit: Limit = 50, cursor: PageCursor = None) -> Response:
    """Questions with their answers, the newest first."""
    request = knowledge_rpc.AnswersRequest(company_id=caller.company, limit=limit, cursor=cursor)
    return page(await ask(api.rpc, knowledge_rpc.ANSWERS, request))


@router.post("/answers", status_code=201, responses=described(404) | {201: described_headers("Location")})
async def create_answer(
    api: ApiDep, caller: AdminDep, body: AnswerBody, response: Response
) -> knowledge_rpc.AnswerView:
    """A new question with its answer."""
    request = knowledge_rpc.AnswerCreate(
        company_id=caller.company, draft=knowledge_rpc.AnswerDraft.model_validate(body.to_wire())
    )
    stored = found((await ask(api.rpc, knowledge_rpc.ANSWER_CREATE, request, deadline=CHANGE_SECONDS)).answer, "answer")
    response.headers["Location"] = f"{router.prefix}/answers/{stored.id}"
    return stored


@router.patch("/answers/{id}", responses=described(404), openapi_extra=_MERGE_PATCH)
async def patch_answer(
    api: ApiDep, caller: AdminDep, name: NamePath, body: Annotated[dict[str, object], FromBody()]
) -> knowledge_rpc.AnswerView:
    """Changes a pair."""
    check_json(body)
    request = knowledge_rpc.AnswerPatch(company_id=caller.company, id=name, patch=body)
    return found((await ask(api.rpc, knowledge_rpc.ANSWER_PATCH, request, deadline=CHANGE_SECONDS)).answer, "answer")


@router.delete("/answers/{id}", status_code=204, response_class=Response, responses=described(404))
async def delete_answer(api: ApiDep, caller: AdminDep, name: NamePath) -> None:
    """Deletes a pair."""
    request = knowledge_rpc.AnswerRequest(company_id=caller.company, id=name)
    if not (await ask(api.rpc, knowledge_rpc.ANSWER_DELETE, request)).deleted:
        raise not_found("answer")


@router.get("/gaps", response_model=knowledge_rpc.GapsReply, responses=described())
async def list_gaps(
    api: ApiDep,
    caller: OperatorDep,
    state: Annotated[Literal["open", "answered", "dismissed"], Query()] = "open",
    limit: Limit = 50,
    cursor: PageCursor = None,
) -> Response:
    """Questions that had no good answer, the most asked first."""
    request = knowledge_rpc.GapsRequest(company_id=caller.company, state=state, limit=limit, cursor=cursor)
    return page(await ask(api.rpc, knowledge_rpc.GAPS, request))


@router.post("/gaps/{id}", responses=described(404))
async def decide_gap(api: ApiDep, caller: AdminDep, name: NamePath, body: GapBody) -> knowledge_rpc.GapReply:
    """Answers a gap, so that the next person who asks gets this answer; or dismisses it."""
    request = knowledge_rpc.GapDecide(company_id=caller.company, id=name, **dict(body))
    return await ask(api.rpc, knowledge_rpc.GAP_DECIDE, request, deadline=CHANGE_SECONDS)
