"""/v2/knowledge: the assistant's knowledge about the company. Admins change it, human agents read it."""

from datetime import datetime
from typing import Annotated, Literal, TypeVar

import orjson
from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from contracts import knowledge_rpc
from contracts.company_rpc import CompanyRequest
from contracts.envelope import Wire
from contracts.events.knowledge import FileReceived
from contracts.ids import ID_PATTERN, uuid7
from contracts.json_values import JsonObject
from contracts.knowledge import MAX_QUERY, MAX_TEXT, Name, Passage, Run, WrittenIn, document_id
from contracts.languages import Language
from contracts.plain_text import LINE
from gateway.adapters.knowledge import PIECE_BYTES
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.domain.error_language import in_language
from gateway.errors import found, not_found
from gateway.ports import TokenCaller
from gateway.web.deps import AdminDep, Api, ApiDep, OperatorDep
from gateway.web.pagination import Limit, PageCursor, page
from gateway.web.problems import described
from gateway.web.response_headers import described_headers
from gateway.web.uploads import is_form, read_upload
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2/knowledge", tags=["knowledge"])

DocumentPath = Annotated[
    Name, Path(alias="id", description="a document's id; to PUT and later, its id in your own system will do")
]
RunPath = Annotated[str, Path(alias="id", pattern=ID_PATTERN)]


class Body(Wire):
    """A request's body: unknown fields are refused, since they are usually misspelt."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid")


BodyT = TypeVar("BodyT", bound=Body)


class DocumentText(Body):
    """A document as text, plain or Markdown."""

    title: Annotated[str, Field(min_length=1, max_length=500), LINE]
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    url: str | None = Field(default=None, max_length=2048, pattern=r"^https?://")
    language: WrittenIn | None = None


class DocumentForm(Body):
    """Other fields of a form besides the file."""

    title: Annotated[str, Field(min_length=1, max_length=500), LINE] | None = None
    url: str | None = Field(default=None, max_length=2048, pattern=r"^https?://")


class DocumentDetail(knowledge_rpc.DocumentView):
    """A document with its passages, 200 at most."""

    found: list[Passage] = Field(default_factory=list[Passage], description="its passages, in order")


class SearchBody(Body):
    """A question, as a visitor would ask it."""

    query: str = Field(min_length=1, max_length=MAX_QUERY)
    limit: int = Field(default=5, ge=1, le=50)
    language: WrittenIn | None = None


class SearchResult(Wire):
    """A passage that was found. `score`: 0 to 1, how much of the question it covers."""

    id: str
    document_id: str
    source: str
    title: str
    url: str | None = None
    heading: list[str]
    language: str | None = None
    text: str
    score: float
    read_at: datetime
    exact: bool = Field(description="the question of a pair, whose answer is the text")


class SearchResults(Wire):
    """Best match first. `complete` false: not everything could be read in time."""

    results: list[SearchResult]
    complete: bool


class RefreshBody(Body):
    """Read the site again, or one page of it."""

    url: str | None = Field(default=None, max_length=2048, pattern=r"^https?://")


class RunBody(Body):
    """Whether to remove the pages that a waiting run found missing."""

    remove: bool


_TEXT_OR_FILE = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": DocumentText.model_json_schema(by_alias=True)},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": "at most 20 MB"},
                        "title": {"type": "string", "maxLength": 500},
                        "url": {"type": "string", "maxLength": 2048},
                    },
                }
            },
        },
    }
}
_LOCATION = described_headers("Location")
_ACCEPTED: dict[int | str, JsonObject] = {
    202: {"description": "the file is being read: GET the document", "model": knowledge_rpc.DocumentView} | _LOCATION
}


@router.get("", responses=described())
async def get_knowledge(
    api: ApiDep, caller: OperatorDep, accept_language: AcceptLanguage = None
) -> knowledge_rpc.KnowledgeOverview:
    """What the assistant knows: sources, counts, the last and the next run, failures."""
    overview = await ask(api.rpc, knowledge_rpc.OVERVIEW, CompanyRequest(company_id=caller.company))
    language = await api.companies.console_language(caller.company, accept_language)
    run = overview.last_run and _run_in_language(overview.last_run, language)
    failures = [_document_in_language(document, language) for document in overview.failures]
    return overview.model_copy(update={"last_run": run, "failures": failures})


@router.get("/documents", response_model=knowledge_rpc.DocumentsReply, responses=described())
async def list_documents(
    api: ApiDep,
    caller: OperatorDep,
    source: Annotated[Literal["site", "document", "service"] | None, Query()] = None,
    limit: Limit = 50,
    cursor: PageCursor = None,
    accept_language: AcceptLanguage = None,
) -> Response:
    """Documents and pages, newest first."""
    request = knowledge_rpc.DocumentsRequest(company_id=caller.company, source=source, limit=limit, cursor=cursor)
    documents = await ask(api.rpc, knowledge_rpc.DOCUMENTS, request)
    language = await api.companies.console_language(caller.company, accept_language)
    items = [_document_in_language(document, language) for document in documents.items]
    return page(documents.model_copy(update={"items": items}))


@router.post(
    "/documents",
    status_code=201,
    response_model=knowledge_rpc.DocumentView,
    responses=described() | _ACCEPTED | {201: _LOCATION},
    openapi_extra=_TEXT_OR_FILE,
)
async def create_document(api: ApiDep, caller: AdminDep, request: Request) -> Response:
    """A new document: text as JSON, or a file (PDF, DOCX, Markdown, HTML, CSV, text) as a multipart form."""
    return await _put_document(api, caller, request, None)


@router.get("/documents/{id:path}", responses=described(404))
async def get_document(
    api: ApiDep, caller: OperatorDep, name: DocumentPath, accept_language: AcceptLanguage = None
) -> DocumentDetail:
    """One document with its passages."""
    reply = await ask(
        api.rpc, knowledge_rpc.DOCUMENT_GET, knowledge_rpc.DocumentRequest(company_id=caller.company, id=name)
    )
    document = found(reply.document, "document")
    language = await api.companies.console_language(caller.company, accept_language)
    return DocumentDetail(**dict(_document_in_language(document, language)), found=reply.passages)


@router.put(
    "/documents/{id:path}",
    response_model=knowledge_rpc.DocumentView,
    responses=described(404) | _ACCEPTED | {200: _LOCATION},
    openapi_extra=_TEXT_OR_FILE,
)
async def put_document(api: ApiDep, caller: AdminDep, request: Request, name: DocumentPath) -> Response:
    """A document under your own system's id; the same id again replaces it."""
    return await _put_document(api, caller, request, name)


@router.delete("/documents/{id:path}", status_code=204, response_class=Response, responses=described(404))
async def delete_document(api: ApiDep, caller: AdminDep, name: DocumentPath) -> None:
    """Deletes a document: it is no longer found."""
    request = knowledge_rpc.DocumentRequest(company_id=caller.company, id=name)
    if not (await ask(api.rpc, knowledge_rpc.DOCUMENT_DELETE, request)).deleted:
        raise not_found("document")


@router.post("/search", responses=described())
async def search(api: ApiDep, caller: OperatorDep, body: SearchBody) -> SearchResults:
    """What the assistant would find for a question."""
    request = knowledge_rpc.KnowledgeSearch(
        company_id=caller.company, text=body.query, limit=body.limit, language=body.language
    )
    reply = await ask(api.rpc, knowledge_rpc.SEARCH, request, deadline=CHANGE_SECONDS)
    results = [SearchResult.model_validate(dict(passage)) for passage in reply.passages]
    return SearchResults(results=results, complete=reply.complete)


@router.post("/refresh", status_code=202, responses=described())
async def refresh(api: ApiDep, caller: AdminDep, body: RefreshBody | None = None) -> Run:
    """Reads the site again, or one page of it; while that is under way, the same run is returned."""
    request = knowledge_rpc.RefreshAsk(company_id=caller.company, url=body.url if body else None, by=caller.subject)
    return found((await ask(api.rpc, knowledge_rpc.REFRESH, request)).run, "run")


@router.get("/runs/{id}", responses=described(404))
async def get_run(api: ApiDep, caller: OperatorDep, name: RunPath, accept_language: AcceptLanguage = None) -> Run:
    """A run's progress: pages found, fetched, unchanged, skipped and failed, with reasons."""
    run = found(
        (await ask(api.rpc, knowledge_rpc.RUN_GET, knowledge_rpc.RunRequest(company_id=caller.company, id=name))).run,
        "run",
    )
    return _run_in_language(run, await api.companies.console_language(caller.company, accept_language))


@router.post("/runs/{id}", responses=described(404))
async def decide_run(api: ApiDep, caller: AdminDep, name: RunPath, body: RunBody) -> Run:
    """Approves or rejects a run that waits because it would remove more than half of the pages."""
    request = knowledge_rpc.RunDecide(company_id=caller.company, id=name, remove=body.remove)
    return found((await ask(api.rpc, knowledge_rpc.RUN_DECIDE, request)).run, "run")


async def _put_document(api: Api, caller: TokenCaller, request: Request, name: str | None) -> Response:
    if is_form(request.headers):
        return await _put_file(api, caller, request, name)
    try:
        fields = orjson.loads(await request.body())
    except ValueError as error:
        raise RequestValidationError(
            [{"loc": ("body",), "msg": "must be JSON in UTF-8, or a form", "type": "json"}]
        ) from error
    text = _validated(DocumentText, fields)
    put_request = knowledge_rpc.DocumentPut(company_id=caller.company, id=name, **dict(text))
    stored = (await ask(api.rpc, knowledge_rpc.DOCUMENT_PUT, put_request, deadline=CHANGE_SECONDS)).document
    return _document_response(stored, 200 if name else 201)


async def _put_file(api: Api, caller: TokenCaller, request: Request, name: str | None) -> Response:
    async with api.knowledge.upload_slot():
        upload = await read_upload(request)
        form = _validated(DocumentForm, {field_name: value for field_name, value in upload.fields.items() if value})
        file = FileReceived(
            company_id=caller.company,
            document_id=document_id(caller.company, "document", name) if name else uuid7(),
            upload_id=uuid7(),
            pieces=-(-len(upload.content) // PIECE_BYTES),
            size=len(upload.content),
            filename=upload.filename,
            content_type=upload.content_type,
            title=form.title,
            url=form.url,
            external_id=name,
        )
        return _document_response(await api.knowledge.store_file(file, upload.content), 202)


def _validated(model: type[BodyT], fields: object) -> BodyT:
    """The body that FastAPI does not read itself; raises RequestValidationError."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise RequestValidationError([{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]) from error


def _document_response(stored: knowledge_rpc.DocumentView | None, status: int) -> Response:
    document = found(stored, "document")
    headers = {"Location": f"{router.prefix}/documents/{document.id}"}
    return JSONResponse(document.to_wire(), status, headers=headers)


def _run_in_language(run: Run, language: Language) -> Run:
    left_pages = [
        left_page.model_copy(update={"message": in_language(left_page.message, language)}) for left_page in run.left
    ]
    return run.model_copy(update={"problem": run.problem and in_language(run.problem, language), "left": left_pages})


def _document_in_language(document: knowledge_rpc.DocumentView, language: Language) -> knowledge_rpc.DocumentView:
    return document.model_copy(update={"problem": document.problem and in_language(document.problem, language)})
