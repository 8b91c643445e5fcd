"""For tests: a stand-in for memory's knowledge. The company acme has one document, answer, gap and run, each with id
`k1`."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nats.aio.client import Client

from contracts import knowledge_rpc
from contracts.company_rpc import CompanyRequest
from contracts.errors import ErrorCode
from contracts.knowledge import KnowledgeFound, Passage, Run
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError

OWNER, NAME = "acme", "k1"
AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class KnowledgeStandIn:
    """Answers with fixed data and stores nothing. `requests` records the requests; `text` is the text of everything."""

    client: Client
    text: str = "what acme says"
    requests: list[Any] = field(default_factory=list[Any])

    async def start(self) -> None:
        """Starts answering."""
        server = RpcServer(self.client)
        await server.serve(knowledge_rpc.SEARCH, self._search)
        await server.serve(knowledge_rpc.OVERVIEW, self._overview)
        await server.serve(knowledge_rpc.DOCUMENTS, self._documents)
        await server.serve(knowledge_rpc.DOCUMENT_GET, self._document)
        await server.serve(knowledge_rpc.DOCUMENT_PUT, self._put)
        await server.serve(knowledge_rpc.DOCUMENT_DELETE, self._gone)
        await server.serve(knowledge_rpc.FILE_PUT, self._file)
        await server.serve(knowledge_rpc.ANSWERS, self._answers)
        await server.serve(knowledge_rpc.ANSWER_CREATE, self._create)
        await server.serve(knowledge_rpc.ANSWER_PATCH, self._patch)
        await server.serve(knowledge_rpc.ANSWER_DELETE, self._gone)
        await server.serve(knowledge_rpc.GAPS, self._gaps)
        await server.serve(knowledge_rpc.GAP_DECIDE, self._decide)
        await server.serve(knowledge_rpc.REFRESH, self._refresh)
        await server.serve(knowledge_rpc.RUN_GET, self._run)
        await server.serve(knowledge_rpc.RUN_DECIDE, self._run)
        await self.client.flush()

    def _view(self, name: str = NAME) -> knowledge_rpc.DocumentView:
        return knowledge_rpc.DocumentView(id=name, source="document", title=self.text, updated_at=AT)

    def _answer_view(self) -> knowledge_rpc.AnswerView:
        return knowledge_rpc.AnswerView(
            id=NAME, question="q", answer=self.text, language="en", created_at=AT, updated_at=AT
        )

    async def _search(self, request: knowledge_rpc.KnowledgeSearch) -> KnowledgeFound:
        self.requests.append(request)
        if request.company_id != OWNER:
            return KnowledgeFound()
        passage = Passage(
            id="p1",
            document_id=NAME,
            source="document",
            title="t",
            text=self.text,
            score=0.5,
            read_at=AT,
            hash="h",
        )
        return KnowledgeFound(passages=[passage], documents=1)

    async def _overview(self, request: CompanyRequest) -> knowledge_rpc.KnowledgeOverview:
        return knowledge_rpc.KnowledgeOverview(sources=[], failures=[self._view()] if _is_of_owner(request) else [])

    async def _documents(self, request: knowledge_rpc.DocumentsRequest) -> knowledge_rpc.DocumentsReply:
        return knowledge_rpc.DocumentsReply(items=[self._view()] if _is_of_owner(request) else [], next=None)

    async def _document(self, request: knowledge_rpc.DocumentRequest) -> knowledge_rpc.DocumentReply:
        return knowledge_rpc.DocumentReply(
            document=self._view() if _is_of_owner(request) and request.id == NAME else None
        )

    async def _put(self, request: knowledge_rpc.DocumentPut) -> knowledge_rpc.DocumentReply:
        self.requests.append(request)
        view = self._view(request.id or NAME).model_copy(update={"title": request.title})
        return knowledge_rpc.DocumentReply(document=view)

    async def _file(self, request: knowledge_rpc.FilePut) -> knowledge_rpc.DocumentReply:
        self.requests.append(request)
        view = self._view(request.file.document_id).model_copy(update={"state": "reading", "title": "file"})
        return knowledge_rpc.DocumentReply(document=view)

    async def _gone(
        self, request: knowledge_rpc.DocumentRequest | knowledge_rpc.AnswerRequest
    ) -> knowledge_rpc.DocumentGone:
        return knowledge_rpc.DocumentGone(deleted=_is_of_owner(request) and request.id == NAME)

    async def _answers(self, request: knowledge_rpc.AnswersRequest) -> knowledge_rpc.AnswersReply:
        return knowledge_rpc.AnswersReply(items=[self._answer_view()] if _is_of_owner(request) else [])

    async def _create(self, request: knowledge_rpc.AnswerCreate) -> knowledge_rpc.AnswerReply:
        return knowledge_rpc.AnswerReply(answer=self._answer_view().model_copy(update={"answer": request.draft.answer}))

    async def _patch(self, request: knowledge_rpc.AnswerPatch) -> knowledge_rpc.AnswerReply:
        return knowledge_rpc.AnswerReply(
            answer=self._answer_view() if _is_of_owner(request) and request.id == NAME else None
        )

    async def _gaps(self, request: knowledge_rpc.GapsRequest) -> knowledge_rpc.GapsReply:
        return knowledge_rpc.GapsReply(items=[self._gap()] if _is_of_owner(request) else [])

    def _gap(self) -> knowledge_rpc.GapView:
        return knowledge_rpc.GapView(
            id=NAME, question=self.text, language="en", state="open", count=1, first_at=AT, last_at=AT
        )

    async def _decide(self, request: knowledge_rpc.GapDecide) -> knowledge_rpc.GapReply:
        if not _is_of_owner(request) or request.id != NAME:
            raise RpcError(ErrorCode.NOT_FOUND, "there is no such gap")
        return knowledge_rpc.GapReply(gap=self._gap(), answer=self._answer_view() if request.answer else None)

    async def _refresh(self, request: knowledge_rpc.RefreshAsk) -> knowledge_rpc.RunReply:
        self.requests.append(request)
        return knowledge_rpc.RunReply(run=_make_run(request.company_id, "r1"))

    async def _run(self, request: knowledge_rpc.RunRequest | knowledge_rpc.RunDecide) -> knowledge_rpc.RunReply:
        exists = _is_of_owner(request) and request.id == NAME
        return knowledge_rpc.RunReply(run=_make_run(OWNER, NAME) if exists else None)


def _make_run(company: str, name: str) -> Run:
    return Run(id=name, company_id=company, state="running", requested_at=AT)


def _is_of_owner(request: Any) -> bool:
    return request.company_id == OWNER
