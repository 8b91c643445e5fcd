"""/v2/memory: what is remembered of the caller, to read, correct, export and delete; agents read a customer's."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import APIRouter, Body, Header, Path, Response
from fastapi.responses import StreamingResponse

from contracts import memory_rpc
from contracts.envelope import Wire
from contracts.ids import ID_PATTERN, derive_id, uuid7
from contracts.market_rpc import HOLDINGS, Holdings
from contracts.memory_rpc import ExportedConversation, LongTermMemory, MemoryExportReply, UserRef
from gateway.adapters.service_calls import ask
from gateway.errors import GatewayError, UnavailableError
from gateway.ports import TokenCaller
from gateway.web.deps import Api, ApiDep, CustomerDep, OperatorDep, idempotency_key
from gateway.web.free_json import check_json, merge_patch_body
from gateway.web.problems import described
from gateway.web.response_headers import described_headers

router = APIRouter(tags=["memory"])

REPEAT_SECONDS = 6.0
"""Deadline for repeating a correction to learn its outcome; the store has 5 s for one command."""
MAX_PAGES = 10_000
"""Pages of one export at most, in case the cursors never end."""
_UNCERTAIN = (
    "the correction may have been made, or be made in a moment: send it again, "
    "with the same Idempotency-Key if it had one"
)
Key = Annotated[
    str | None, idempotency_key("the same key again takes effect once; with another correction it is a CONFLICT")
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=64,
        description="the ETag that was read: 412 if anything was changed or learned since",
    ),
]
_MERGE_PATCH = merge_patch_body("a merge patch (RFC 7396) of the memory: lists are replaced whole, null forgets")


class Export(Wire):
    """Everything stored about a user. `missing`: parts that were not available (holdings); ask again for them.

    A long conversation comes in several parts.
    """

    memory: LongTermMemory
    holdings: Holdings | None = None
    missing: list[str]
    conversations: list[ExportedConversation]


@router.get("/v2/memory", response_model_exclude_none=True, responses=described() | {200: described_headers("ETag")})
async def get_memory(api: ApiDep, caller: CustomerDep, response: Response) -> LongTermMemory:
    """What is remembered of me from earlier conversations."""
    reply = await ask(api.rpc, memory_rpc.MEMORY_GET, _me(caller))
    if reply.version is not None:
        response.headers["ETag"] = f'"{reply.version}"'
    return reply.memory


@router.get("/v2/users/{userId}/memory", response_model_exclude_none=True, responses=described())
async def get_customers_memory(
    api: ApiDep, caller: OperatorDep, user: Annotated[str, Path(pattern=ID_PATTERN, alias="userId")]
) -> LongTermMemory:
    """What is remembered of a customer of the company, for the human agent who helps them."""
    return (await ask(api.rpc, memory_rpc.MEMORY_GET, UserRef(company_id=caller.company, user_id=user))).memory


@router.patch(
    "/v2/memory",
    response_model_exclude_none=True,
    responses=described(409, 412),
    openapi_extra=_MERGE_PATCH,
)
async def patch_memory(
    api: ApiDep,
    caller: CustomerDep,
    body: Annotated[dict[str, object], Body()],
    key: Key = None,
    if_match: IfMatch = None,
) -> LongTermMemory:
    """Corrects what is remembered, over any version without If-Match. After a 503 it may have been applied, or be
    applied soon: repeat it with the same key."""
    check_json(body)
    # With the same id it takes effect once, so a repeat returns the outcome of a request that got no answer.
    request = memory_rpc.MemoryPatchRequest(
        company_id=caller.company,
        user_id=caller.subject,
        patch=body,
        over=None if if_match is None or if_match == "*" else if_match.removeprefix('"').removesuffix('"'),
        request_id=uuid7() if key is None else derive_id("memory", key),
        body=None if key is None else derive_id(orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()),
    )
    try:
        return (await ask(api.rpc, memory_rpc.MEMORY_PATCH, request)).memory
    except UnavailableError:
        try:
            return (await ask(api.rpc, memory_rpc.MEMORY_PATCH, request, deadline=REPEAT_SECONDS)).memory
        except UnavailableError as error:
            raise UnavailableError(_UNCERTAIN) from error


@router.delete("/v2/memory", status_code=204, response_class=Response, responses=described())
async def delete_memory(api: ApiDep, caller: CustomerDep) -> None:
    """Forgets what is remembered. Conversations stay; DELETE /v2/users/me deletes those too."""
    await ask(api.rpc, memory_rpc.MEMORY_DELETE, _me(caller))


@router.get("/v2/memory/export", response_model=Export, responses=described())
async def export_memory(api: ApiDep, caller: CustomerDep) -> Response:
    """Everything stored about me, as one JSON document."""
    first_page, holdings = await asyncio.gather(_export(api, caller, None), _holdings(api, caller))
    headers = {"Content-Disposition": 'attachment; filename="nexus-export.json"', "Cache-Control": "no-store"}
    return StreamingResponse(
        _document(api, caller, first_page, holdings), headers=headers, media_type="application/json"
    )


def _me(caller: TokenCaller) -> UserRef:
    return UserRef(company_id=caller.company, user_id=caller.subject)


async def _export(api: Api, caller: TokenCaller, cursor: str | None) -> MemoryExportReply:
    request = memory_rpc.MemoryExportRequest(company_id=caller.company, user_id=caller.subject, cursor=cursor)
    return await ask(api.rpc, memory_rpc.MEMORY_EXPORT, request)


async def _holdings(api: Api, caller: TokenCaller) -> Holdings | None:
    try:
        return await ask(api.rpc, HOLDINGS, _me(caller))
    except GatewayError:
        return None


async def _document(
    api: Api, caller: TokenCaller, page: MemoryExportReply, holdings: Holdings | None
) -> AsyncIterator[bytes]:
    """Streams the document page by page, since it may be large. An error in between cuts it off."""
    yield b'{"memory":' + (page.memory or LongTermMemory()).to_json()
    if holdings is None:
        yield b',"missing":["holdings"]'
    else:
        yield b',"missing":[],"holdings":' + holdings.to_json()
    yield b',"conversations":['
    separator = b""
    for _ in range(MAX_PAGES):
        for part in page.conversations:
            yield separator + part.to_json()
            separator = b","
        if page.next is None:
            break
        page = await _export(api, caller, page.next)
    yield b"]}"
