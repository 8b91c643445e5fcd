"""POST /v2/llm/suggestions and /v2/llm/improve: help for human agents while they write."""

from fastapi import APIRouter
from pydantic import Field

from contracts.agent_rpc import IMPROVE, SUGGEST, ImproveReply, ImproveRequest, SuggestReply, SuggestRequest
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events.chat import MAX_TEXT
from contracts.ids import Id
from gateway.adapters.service_calls import SUGGESTION_SECONDS, ask
from gateway.errors import RefusedError, check_not_blank, found
from gateway.web.deps import ApiDep, OperatorDep
from gateway.web.problems import described

router = APIRouter(prefix="/v2/llm", tags=["llm"])


class SuggestionsRequest(Wire):
    """The conversation that needs a reply."""

    conversation_id: Id


class DraftRequest(Wire):
    """A draft. `tone` in words (friendly, formal …); `locale`, e.g. es: to write in that language, not the draft's."""

    text: str = Field(min_length=1, max_length=MAX_TEXT)
    tone: str | None = Field(default=None, min_length=1, max_length=100)
    locale: str | None = Field(default=None, min_length=1, max_length=35)
    conversation_id: Id | None = None


@router.post("/suggestions", responses=described(404, 429))
async def suggest(api: ApiDep, caller: OperatorDep, body: SuggestionsRequest) -> SuggestReply:
    """Three short replies, written with the company's own prompt and model. 403 if the company has suggestions off."""
    settings = found(await api.companies.get(caller.company), "company")
    if not settings.config.ai_suggestions_enabled:
        raise RefusedError(ErrorCode.FORBIDDEN, "suggestions are off: an admin turns them on with aiSuggestionsEnabled")
    await api.chat.access.check_watchable(caller, body.conversation_id)
    request = SuggestRequest(company_id=caller.company, conversation_id=body.conversation_id)
    return await ask(api.rpc, SUGGEST, request, deadline=SUGGESTION_SECONDS)


@router.post("/improve", responses=described(404, 429))
async def improve(api: ApiDep, caller: OperatorDep, body: DraftRequest) -> ImproveReply:
    """Rewrites a draft; with a conversation, to suit it."""
    check_not_blank(body.text)
    if body.conversation_id is not None:
        await api.chat.access.check_watchable(caller, body.conversation_id)
    request = ImproveRequest(company_id=caller.company, **dict(body))
    return await ask(api.rpc, IMPROVE, request, deadline=SUGGESTION_SECONDS)
