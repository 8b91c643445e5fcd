"""`nexus erase` deletes a person's data or one conversation for good; `nexus erasures` shows the receipts."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nexus_cli.commands.bus import check_exists, with_rpc
from nexus_cli.commands.failures import fail
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, a_company, an_id, confirmed

if TYPE_CHECKING:
    from contracts.erasure_rpc import Receipt
    from runtime.calls.rpc import RpcClient

Company = Annotated[str, typer.Option(help="Whose.", callback=a_company)]
DEADLINE = 30.0
"""Seconds for a deletion, which asks two more services."""


def erase(
    kind: Annotated[Literal["user", "visitor", "conversation"], typer.Argument(help="What is deleted.")],
    name: Annotated[str, typer.Argument(help="Its id.", callback=an_id)],
    company: Company = "demo",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    *,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Delete a user, a visitor or one conversation in every store and stream. For good; prints the receipt."""
    if not yes and not confirmed(f"Delete the {kind} {name} of {company} for good?"):
        fail("nothing is deleted")

    async def work(rpc: RpcClient) -> None:
        from contracts.erasure_rpc import ERASE, EraseRequest

        await check_exists(rpc, company)
        asked = EraseRequest(company_id=company, receipt_id=str(uuid.uuid4()), kind=kind, name=name, by="admin")
        _print((await rpc.call(ERASE, asked, deadline=DEADLINE)).receipt, as_json=as_json)

    with_rpc(data, work)


def erasures(
    receipt: Annotated[
        str | None, typer.Argument(help="A receipt's id; without it the newest are listed.", callback=an_id)
    ] = None,
    company: Company = "demo",
    *,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Receipts of what was deleted, and what the next daily run deletes by its age."""

    async def work(rpc: RpcClient) -> None:
        from contracts.erasure_rpc import KEEPING, RECEIPT, RECEIPTS, KeepingRequest, ReceiptRef, ReceiptsRequest

        if receipt is not None:
            asked = ReceiptRef(company_id=company, receipt_id=receipt)
            found = (await rpc.call(RECEIPT, asked, deadline=DEADLINE)).receipt
            if found is None:
                fail(f"{company} has no receipt {receipt}")
            _print(found, as_json=as_json)
            return
        items = (await rpc.call(RECEIPTS, ReceiptsRequest(company_id=company), deadline=DEADLINE)).items
        tonight = await rpc.call(KEEPING, KeepingRequest(company_id=company), deadline=DEADLINE)
        if as_json:
            print(json.dumps({"items": [one.to_wire() for one in items], "next": tonight.to_wire()}, indent=2))
            return
        if not items:
            print(f"nothing of {company} was deleted")
        for one in items:
            print(f"{one.requested_at:%Y-%m-%d %H:%M}  {one.kind:<12} {one.by:<9} {one.state:<7} {one.receipt_id}")
        for name, old in (("conversations", tonight.conversations), ("traces", tonight.traces)):
            if old.days is not None:
                print(f"next      {tonight.next_run:%Y-%m-%d %H:%M}  {old.count} {name} older than {old.days} days")

    with_rpc(data, work)


def _print(receipt: Receipt, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(receipt.to_wire(), indent=2, ensure_ascii=False))
        return
    from contracts.receipt_words import what_remains

    print(f"receipt   {receipt.receipt_id} ({receipt.state}), {receipt.conversations} conversation(s)")
    for one in receipt.removed:
        if one.removed or one.remains:
            count = f"≥ {one.removed}" if one.at_least else str(one.removed)
            print(f"  {one.place:<24} {count:>6}")
        if one.remains:
            until = f"until {one.gone_after:%Y-%m-%d %H:%M}: " if one.gone_after else ""
            print(f"    {until}{what_remains(one, 'en') or one.remains}")
