"""The methods of question-and-answer pairs and gaps, one thin function each."""

from pydantic import ValidationError

from contracts import knowledge_rpc
from contracts.errors import ErrorCode, FieldFault
from contracts.ids import uuid7
from contracts.merge_patch import merged
from contracts.wrong_fields import message_of
from memory.errors import BadKnowledgeError, NotFoundError
from memory.knowledge.gaps import GapList
from memory.knowledge.library import Library
from memory.knowledge.mongo_documents import DocumentStore
from memory.knowledge.mongo_gaps import GapStore
from memory.knowledge.records import ANSWER, Pair
from runtime.clock import Clock
from runtime.errors import RpcError
from runtime.lifecycle.service import Service


def serve(
    service: Service, library: Library, documents: DocumentStore, gaps: GapStore, gap_list: GapList, clock: Clock
) -> None:

    async def answers(request: knowledge_rpc.AnswersRequest) -> knowledge_rpc.AnswersReply:
        page = await documents.page(request.company_id, ANSWER, request.limit, request.cursor)
        return knowledge_rpc.AnswersReply(
            items=[pair for record in page.items if (pair := record.answer())], next=page.next
        )

    async def create(request: knowledge_rpc.AnswerCreate) -> knowledge_rpc.AnswerReply:
        draft = request.draft
        pair = Pair(tuple(dict.fromkeys((draft.question, *draft.alternatives))), draft.answer, clock.now())
        stored = await library.put_pair(request.company_id, uuid7(), pair, draft.language)
        return knowledge_rpc.AnswerReply(answer=stored.answer())

    async def patch(request: knowledge_rpc.AnswerPatch) -> knowledge_rpc.AnswerReply:
        old = await answer_of(request.company_id, request.id)
        if old is None:
            raise NotFoundError("there is no such answer")
        before = {name: getattr(old, name) for name in knowledge_rpc.AnswerDraft.model_fields}
        draft = _draft(merged(before, request.patch))
        questions = tuple(dict.fromkeys((draft.question, *draft.alternatives)))
        pair = Pair(questions, draft.answer, old.created_at)
        stored = await library.put_pair(request.company_id, request.id, pair, draft.language)
        return knowledge_rpc.AnswerReply(answer=stored.answer())

    async def delete(request: knowledge_rpc.AnswerRequest) -> knowledge_rpc.DocumentGone:
        exists = await answer_of(request.company_id, request.id) is not None
        return knowledge_rpc.DocumentGone(deleted=exists and await library.remove(request.company_id, request.id))

    async def answer_of(company: str, name: str) -> knowledge_rpc.AnswerView | None:
        stored = await documents.get(company, name)
        return stored.answer() if stored else None

    async def list_gaps(request: knowledge_rpc.GapsRequest) -> knowledge_rpc.GapsReply:
        page = await gaps.page(request.company_id, request.state, request.limit, request.cursor)
        items = [record.view(await gaps.examples(request.company_id, record.id)) for record in page.items]
        return knowledge_rpc.GapsReply(items=items, next=page.next)

    async def decide(request: knowledge_rpc.GapDecide) -> knowledge_rpc.GapReply:
        if (request.answer is None) is not request.dismiss:
            raise BadKnowledgeError("give either answer or dismiss", "answer")
        company, name = request.company_id, request.id
        if request.answer is None:
            gap, pair = await gap_list.dismiss(company, name), None
        else:
            gap, pair = await gap_list.answer(company, name, request.answer, request.question)
        examples = await gaps.examples(company, name)
        return knowledge_rpc.GapReply(gap=gap.view(examples), answer=pair.answer() if pair else None)

    service.serve(knowledge_rpc.ANSWERS, answers)
    service.serve(knowledge_rpc.ANSWER_CREATE, create)
    service.serve(knowledge_rpc.ANSWER_PATCH, patch)
    service.serve(knowledge_rpc.ANSWER_DELETE, delete)
    service.serve(knowledge_rpc.GAPS, list_gaps)
    service.serve(knowledge_rpc.GAP_DECIDE, decide)


def _draft(fields: dict[str, object]) -> knowledge_rpc.AnswerDraft:
    try:
        return knowledge_rpc.AnswerDraft.model_validate(fields, extra="forbid")
    except ValidationError as error:
        faults = [
            FieldFault(field=".".join(map(str, detail["loc"])), message=message_of(detail))
            for detail in error.errors(include_url=False)
        ]
        raise RpcError(ErrorCode.BAD_FIELD, "some fields are not valid", fields=faults) from error
