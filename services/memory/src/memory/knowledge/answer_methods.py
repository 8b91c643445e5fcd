"""The methods of question-and-answer pairs and gaps, one thin function each."""

from pydantic import ValidationError

from contracts.errors import ErrorCode, FieldFault
from contracts.knowledge_rpc import (
    ANSWER_CREATE,
    ANSWER_DELETE,
    ANSWER_PATCH,
    ANSWERS,
    GAP_DECIDE,
    GAPS,
    AnswerCreate,
    AnswerDraft,
    AnswerPatch,
    AnswerReply,
    AnswerRequest,
    AnswersReply,
    AnswersRequest,
    AnswerView,
    DocumentGone,
    GapDecide,
    GapReply,
    GapsReply,
    GapsRequest,
)
from contracts.merge_patch import merged
from contracts.wrong_fields import message_of
from memory.errors import NoSuchKnowledge
from memory.knowledge.gaps import GapList, checked, new_pair
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import Documents
from memory.knowledge.mongo_gaps import Gaps
from memory.knowledge.records import ANSWER, Pair
from runtime.clock import Clock
from runtime.errors import RpcError
from runtime.service import Service


class AnswerMethods:
    def __init__(self, library: Library, documents: Documents, clock: Clock) -> None:
        self._library = library
        self._documents = documents
        self._clock = clock

    async def list(self, request: AnswersRequest) -> AnswersReply:
        found = await self._documents.page(request.company_id, ANSWER, request.limit, request.cursor)
        return AnswersReply(items=[pair for one in found.items if (pair := one.answer())], next=found.next)

    async def create(self, request: AnswerCreate) -> AnswerReply:
        draft = request.draft
        name, pair = new_pair(self._clock, draft.question, draft.alternatives, draft.answer)
        stored = await self._library.put_pair(request.company_id, name, pair, draft.language)
        return AnswerReply(answer=stored.answer())

    async def patch(self, request: AnswerPatch) -> AnswerReply:
        old = await self._answer(request.company_id, request.id)
        before = {name: getattr(old, name) for name in AnswerDraft.model_fields}
        draft = _draft(merged(before, request.patch))
        questions = tuple(dict.fromkeys((draft.question, *draft.alternatives)))
        pair = Pair(questions, draft.answer, old.created_at)
        stored = await self._library.put_pair(request.company_id, request.id, pair, draft.language)
        return AnswerReply(answer=stored.answer())

    async def delete(self, request: AnswerRequest) -> DocumentGone:
        stored = await self._documents.get(request.company_id, request.id)
        if stored is None or stored.answer() is None:
            return DocumentGone(deleted=False)
        return DocumentGone(deleted=await self._library.remove(request.company_id, request.id))

    async def _answer(self, company: str, name: str) -> AnswerView:
        stored = await self._documents.get(company, name)
        found = stored.answer() if stored else None
        if found is None:
            raise NoSuchKnowledge("no such answer")
        return found


class GapMethods:
    def __init__(self, gaps: Gaps, listed: GapList) -> None:
        self._gaps = gaps
        self._listed = listed

    async def list(self, request: GapsRequest) -> GapsReply:
        found = await self._gaps.page(request.company_id, request.state, request.limit, request.cursor)
        items = [one.view(await self._gaps.examples(request.company_id, one.id)) for one in found.items]
        return GapsReply(items=items, next=found.next)

    async def decide(self, request: GapDecide) -> GapReply:
        checked(request.answer, dismiss=request.dismiss)
        company, name = request.company_id, request.id
        if request.answer is None:
            gap, pair = await self._listed.dismiss(company, name), None
        else:
            gap, pair = await self._listed.answer(company, name, request.answer, request.question)
        examples = await self._gaps.examples(company, name)
        return GapReply(gap=gap.view(examples), answer=pair.answer() if pair else None)


def serve(service: Service, answers: AnswerMethods, gaps: GapMethods) -> None:
    service.serve(ANSWERS, answers.list)
    service.serve(ANSWER_CREATE, answers.create)
    service.serve(ANSWER_PATCH, answers.patch)
    service.serve(ANSWER_DELETE, answers.delete)
    service.serve(GAPS, gaps.list)
    service.serve(GAP_DECIDE, gaps.decide)


def _draft(fields: dict[str, object]) -> AnswerDraft:
    try:
        return AnswerDraft.model_validate(fields, extra="forbid")
    except ValidationError as error:
        faults = [
            FieldFault(field=".".join(map(str, one["loc"])), message=message_of(one))
            for one in error.errors(include_url=False)
        ]
        raise RpcError(ErrorCode.BAD_FIELD, "the answer cannot be changed like this", fields=faults) from error
