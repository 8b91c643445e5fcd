"""Deleting users, visitors and conversations for good, the receipts of it, and what goes by its age."""

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Response
from fastapi.responses import JSONResponse

from contracts.envelope import Wire
from contracts.erasure_rpc import Keeping
from contracts.errors import ErrorCode
from contracts.ids import ID_PATTERN, derive_id, uuid7
from contracts.languages import spoken_language
from gateway.domain.receipt_words import ShownReceipt, receipt_in_words
from gateway.errors import Refused
from gateway.ports import TokenCaller
from gateway.web.conversations import Limit, PageCursor
from gateway.web.deps import AdminDep, Api, ApiDep, CallerDep, ConversationPath, SelfDep
from gateway.web.pagination import page
from gateway.web.problems import described
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2", tags=["erasure"])

PersonKind = Literal["user", "visitor"]
Name = Annotated[str, Path(pattern=ID_PATTERN)]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", min_length=1, max_length=255, description="the same key again: the same receipt"),
]


class Receipts(Wire):
    """A page of receipts, newest first."""

    items: list[ShownReceipt]
    next: str | None = None


@router.delete("/users/me", response_model=ShownReceipt, responses=described())
async def delete_me(api: ApiDep, caller: SelfDep, key: Key = None, accept_language: AcceptLanguage = None) -> Response:
    """Deletes me: memory, conversations, portfolio, alerts, in every store and stream. After a 503 ask again."""
    kind: PersonKind = "visitor" if caller.role == "visitor" else "user"
    return await _erased(api, caller, kind, caller.subject, key, accept_language)


@router.delete("/visitors/me", response_model=ShownReceipt, responses=described())
async def delete_me_as_visitor(
    api: ApiDep, caller: SelfDep, key: Key = None, accept_language: AcceptLanguage = None
) -> Response:
    """The same, as a visitor says it."""
    return await delete_me(api, caller, key, accept_language)


@router.delete("/users/{userId}", response_model=ShownReceipt, responses=described())
async def delete_user(
    api: ApiDep,
    caller: AdminDep,
    user: Annotated[Name, Path(alias="userId")],
    key: Key = None,
    accept_language: AcceptLanguage = None,
) -> Response:
    """Deletes a customer of the company with all that is kept of them."""
    return await _erased(api, caller, "user", user, key, accept_language)


@router.delete("/visitors/{visitorId}", response_model=ShownReceipt, responses=described())
async def delete_visitor(
    api: ApiDep,
    caller: AdminDep,
    visitor: Annotated[Name, Path(alias="visitorId")],
    key: Key = None,
    accept_language: AcceptLanguage = None,
) -> Response:
    """Deletes a visitor of the company's site with all that is kept of them."""
    return await _erased(api, caller, "visitor", visitor, key, accept_language)


@router.delete("/conversations/{conversationId}", response_model=ShownReceipt, responses=described(404))
async def delete_conversation(
    api: ApiDep,
    caller: CallerDep,
    conversation: ConversationPath,
    key: Key = None,
    accept_language: AcceptLanguage = None,
) -> Response:
    """Deletes one conversation, and what is remembered from it: by an admin, or by the visitor or customer whose it
    is."""
    if not (caller.role == "admin" or caller.writes_as_visitor):
        raise Refused(ErrorCode.FORBIDDEN, "a conversation is deleted by admins, and by whose it is")
    await api.access.readable(caller, conversation)
    return await _erased(api, caller, "conversation", conversation, key, accept_language)


@router.get("/erasures", response_model=Receipts, responses=described())
async def list_receipts(
    api: ApiDep, caller: AdminDep, limit: Limit = 50, cursor: PageCursor = None, accept_language: AcceptLanguage = None
) -> Response:
    """The receipts of what was deleted in the company. They name nobody."""
    found = await api.records.receipts(caller.company, limit, cursor)
    items = [receipt_in_words(one, spoken_language(accept_language)) for one in found.items]
    return page(Receipts(items=items, next=found.next), found.next)


@router.get("/erasures/{receiptId}", response_model=ShownReceipt, responses=described(404))
async def get_receipt(
    api: ApiDep,
    caller: CallerDep,
    receipt: Annotated[Name, Path(alias="receiptId")],
    accept_language: AcceptLanguage = None,
) -> Response:
    """One receipt: admins, and whoever has been given its id."""
    if not (caller.role in {"admin", "service"} or caller.writes_as_visitor):
        raise Refused(ErrorCode.FORBIDDEN, "receipts are for admins, and for those who have deleted something")
    found = await api.records.receipt(caller.company, receipt)
    return JSONResponse(receipt_in_words(found, spoken_language(accept_language)).to_wire())


@router.get("/keeping", responses=described())
async def preview_keeping(api: ApiDep, caller: AdminDep) -> Keeping:
    """What the next daily run deletes by the settings in `retention`, counted now."""
    return await api.records.keeping(caller.company)


async def _erased(
    api: Api,
    caller: TokenCaller,
    kind: PersonKind | Literal["conversation"],
    name: str,
    key: str | None,
    language: str | None,
) -> Response:
    receipt = uuid7() if key is None else derive_id("erasure", caller.company, caller.subject, kind, name, key)
    found = await api.records.erase(caller.company, receipt, kind, name, "admin" if caller.role == "admin" else "self")
    shown = receipt_in_words(found, spoken_language(language))
    return JSONResponse(shown.to_wire(), headers={"Location": f"/v2/erasures/{found.receipt_id}"})
