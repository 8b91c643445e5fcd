"""Deletes users, visitors and conversations for good, with receipts, and previews deletion by age."""

from contextlib import suppress
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Response
from fastapi.responses import JSONResponse

from contracts import erasure_rpc
from contracts.envelope import Wire
from contracts.erasure_rpc import Keeping, Receipt, Removed
from contracts.errors import ErrorCode
from contracts.ids import ID_PATTERN, derive_id, uuid7
from contracts.json_values import JsonObject
from contracts.receipt_words import remains_text
from gateway.adapters.service_calls import REPORT_SECONDS, ask
from gateway.errors import RefusedError, found
from gateway.ports import TokenCaller
from gateway.web.deps import AdminDep, Api, ApiDep, CallerDep, ConversationPath, MemberDep, SelfDep, idempotency_key
from gateway.web.pagination import Limit, PageCursor, page
from gateway.web.problems import described
from gateway.web.response_headers import described_headers
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2", tags=["erasure"])

FORGET_SECONDS = 25.0
"""Deadline of a deletion, which memory passes on to two more services."""

Kind = Literal["user", "visitor", "conversation"]
Name = Annotated[str, Path(pattern=ID_PATTERN)]
Key = Annotated[str | None, idempotency_key("the same key again: the same receipt")]


class RemovedInWords(Removed):
    """With an explanation of what remains."""

    remains_text: str | None = None


class ShownReceipt(Receipt):
    """A receipt for people to read."""

    removed: list[RemovedInWords]  # pyright: ignore[reportIncompatibleVariableOverride] - the same with more


class Receipts(Wire):
    """A page of receipts, newest first."""

    items: list[ShownReceipt]
    next: str | None = None


class Erasing:
    """A requested deletion."""

    def __init__(self, api: ApiDep, key: Key = None, accept_language: AcceptLanguage = None) -> None:
        self._api = api
        self._key = key
        self._accept_language = accept_language

    async def of(self, caller: TokenCaller, kind: Kind, name: str) -> Response:
        """Deletes and returns the response with the receipt."""
        receipt = self._receipt_id(caller, kind, name) or uuid7()
        requested_by = "admin" if caller.role == "admin" else "self"
        request = erasure_rpc.EraseRequest(
            company_id=caller.company, receipt_id=receipt, kind=kind, name=name, by=requested_by
        )
        return await self._response(
            caller, (await ask(self._api.rpc, erasure_rpc.ERASE, request, deadline=FORGET_SECONDS)).receipt
        )

    async def earlier_response(self, caller: TokenCaller, kind: Kind, name: str) -> Response | None:
        """The response with the receipt of an earlier deletion under this key, whose answer may have been lost; None if
        there was none."""
        receipt = self._receipt_id(caller, kind, name)
        if receipt is not None:
            with suppress(RefusedError):  # there is no such receipt: this is the first request
                return await self._response(caller, await _receipt(self._api, caller, receipt))
        return None

    def _receipt_id(self, caller: TokenCaller, kind: Kind, name: str) -> str | None:
        key = self._key
        return None if key is None else derive_id("erasure", caller.company, caller.subject, kind, name, key)

    async def _response(self, caller: TokenCaller, receipt: Receipt) -> Response:
        language = await self._api.companies.console_language(caller.company, self._accept_language)
        return JSONResponse(
            _in_words(receipt, language).to_wire(), headers={"Location": f"/v2/erasures/{receipt.receipt_id}"}
        )


_RECEIPT: dict[int | str, JsonObject] = {200: described_headers("Location")}
ErasingDep = Annotated[Erasing, Depends()]


@router.delete("/users/me", response_model=ShownReceipt, responses=described() | _RECEIPT)
async def delete_me(erasing: ErasingDep, caller: SelfDep) -> Response:
    """Deletes me: memory, conversations, portfolio, alerts, in every store and stream. After a 503 ask again."""
    return await erasing.of(caller, "visitor" if caller.role == "visitor" else "user", caller.subject)


@router.delete("/visitors/me", response_model=ShownReceipt, responses=described() | _RECEIPT)
async def delete_me_as_visitor(erasing: ErasingDep, caller: SelfDep) -> Response:
    """The same, for a visitor."""
    return await delete_me(erasing, caller)


@router.delete("/users/{userId}", response_model=ShownReceipt, responses=described() | _RECEIPT)
async def delete_user(erasing: ErasingDep, caller: AdminDep, user: Annotated[Name, Path(alias="userId")]) -> Response:
    """Deletes a customer of the company with all their data."""
    return await erasing.of(caller, "user", user)


@router.delete("/visitors/{visitorId}", response_model=ShownReceipt, responses=described() | _RECEIPT)
async def delete_visitor(
    erasing: ErasingDep, caller: AdminDep, visitor: Annotated[Name, Path(alias="visitorId")]
) -> Response:
    """Deletes a visitor of the company's site with all their data."""
    return await erasing.of(caller, "visitor", visitor)


@router.delete("/conversations/{conversationId}", response_model=ShownReceipt, responses=described(404) | _RECEIPT)
async def delete_conversation(
    api: ApiDep, erasing: ErasingDep, caller: CallerDep, conversation: ConversationPath
) -> Response:
    """Deletes one conversation and what is remembered from it; for admins, and its visitor or customer."""
    if not (caller.role == "admin" or caller.writes_as_visitor):
        raise RefusedError(ErrorCode.FORBIDDEN, "only admins and the person it belongs to can delete a conversation")
    try:
        await api.chat.access.check_readable(caller, conversation)
    except RefusedError as error:
        earlier_receipt = (
            await erasing.earlier_response(caller, "conversation", conversation)
            if error.code is ErrorCode.NOT_FOUND
            else None
        )
        if earlier_receipt is None:
            raise
        return earlier_receipt
    return await erasing.of(caller, "conversation", conversation)


@router.get("/erasures", response_model=Receipts, responses=described())
async def list_receipts(
    api: ApiDep, caller: AdminDep, limit: Limit = 50, cursor: PageCursor = None, accept_language: AcceptLanguage = None
) -> Response:
    """The receipts of deletions in the company. They name nobody."""
    request = erasure_rpc.ReceiptsRequest(company_id=caller.company, limit=limit, cursor=cursor)
    receipts = await ask(api.rpc, erasure_rpc.RECEIPTS, request)
    language = await api.companies.console_language(caller.company, accept_language)
    items = [_in_words(receipt, language) for receipt in receipts.items]
    return page(Receipts(items=items, next=receipts.next))


@router.get("/erasures/{receiptId}", response_model=ShownReceipt, responses=described(404))
async def get_receipt(
    api: ApiDep,
    caller: MemberDep,
    receipt: Annotated[Name, Path(alias="receiptId")],
    accept_language: AcceptLanguage = None,
) -> Response:
    """One receipt, for anybody of the company who was given its id. It names nobody."""
    stored = await _receipt(api, caller, receipt)
    language = await api.companies.console_language(caller.company, accept_language)
    return JSONResponse(_in_words(stored, language).to_wire())


@router.get("/keeping", responses=described())
async def preview_keeping(api: ApiDep, caller: AdminDep) -> Keeping:
    """What the next daily run would delete by the settings in `retention`, counted now."""
    await api.companies.latest_settings(caller.company)  # if memory is away, nobody waits for the long deadline
    request = erasure_rpc.KeepingRequest(company_id=caller.company)
    return await ask(api.rpc, erasure_rpc.KEEPING, request, deadline=REPORT_SECONDS)


async def _receipt(api: Api, caller: TokenCaller, receipt: str) -> Receipt:
    request = erasure_rpc.ReceiptRef(company_id=caller.company, receipt_id=receipt)
    return found((await ask(api.rpc, erasure_rpc.RECEIPT, request)).receipt, "receipt")


def _in_words(receipt: Receipt, language: str) -> ShownReceipt:
    removed = [entry.to_wire() | {"remainsText": remains_text(entry, language)} for entry in receipt.removed]
    return ShownReceipt.model_validate(receipt.to_wire() | {"removed": removed})
