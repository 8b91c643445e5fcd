"""`nexus erase` deletes a person's data or one conversation for good; `nexus erasures` shows the receipts."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nexus_cli.commands.bus import check_exists, with_rpc
from nexus_cli.commands.failures import fail, print_json
from nexus_cli.commands.options import DEFAULT_DATA, Data, Json, Language, confirmed, require_company, require_id
from nexus_cli.texts import TEXTS, word

if TYPE_CHECKING:
    from contracts.erasure_rpc import Receipt
    from runtime.calls.rpc import RpcClient

Company = Annotated[str, typer.Option(help="Whose.", callback=require_company)]
DEADLINE = 30.0
"""Seconds for a deletion, which asks two more services."""


def erase(
    kind: Annotated[Literal["user", "visitor", "conversation"], typer.Argument(help="What is deleted.")],
    name: Annotated[str, typer.Argument(help="Its id.", callback=require_id)],
    company: Company = "demo",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Delete a user, a visitor or one conversation in every store and stream. For good; prints the receipt."""
    kind_word = TEXTS[f"erasure.kind.{kind}"].in_language(locale)
    question = TEXTS["erasure.really"].in_language(locale).format(what=kind_word, name=name, company=company)
    if not yes and not confirmed(question, locale):
        fail(TEXTS["company.kept"].in_language(locale))

    async def work(rpc: RpcClient) -> None:
        from contracts.erasure_rpc import ERASE, EraseRequest

        await check_exists(rpc, company, locale)
        request = EraseRequest(company_id=company, receipt_id=str(uuid.uuid4()), kind=kind, name=name, by="admin")
        _print((await rpc.call(ERASE, request, deadline=DEADLINE)).receipt, locale, as_json=as_json)

    with_rpc(data, work)


def erasures(
    receipt: Annotated[
        str | None, typer.Argument(help="A receipt's id; without it the newest are listed.", callback=require_id)
    ] = None,
    company: Company = "demo",
    *,
    locale: Language,
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """Receipts of what was deleted, and what the next daily run deletes by its age."""

    async def work(rpc: RpcClient) -> None:
        from contracts.erasure_rpc import KEEPING, RECEIPT, RECEIPTS, KeepingRequest, ReceiptRef, ReceiptsRequest

        if receipt is not None:
            request = ReceiptRef(company_id=company, receipt_id=receipt)
            stored = (await rpc.call(RECEIPT, request, deadline=DEADLINE)).receipt
            if stored is None:
                fail(TEXTS["erasure.no_receipt"].in_language(locale).format(company=company, receipt=receipt))
            _print(stored, locale, as_json=as_json)
            return
        items = (await rpc.call(RECEIPTS, ReceiptsRequest(company_id=company), deadline=DEADLINE)).items
        tonight = await rpc.call(KEEPING, KeepingRequest(company_id=company), deadline=DEADLINE)
        if as_json:
            print(json.dumps({"items": [item.to_wire() for item in items], "next": tonight.to_wire()}, indent=2))
            return
        if not items:
            print(TEXTS["erasure.nothing"].in_language(locale).format(company=company))
        for item in items:
            kind, requested_by, state = (
                word(TEXTS.section("erasure"), key, locale)
                for key in (f"kind.{item.kind}", f"by.{item.by}", f"state.{item.state}")
            )
            print(f"{item.requested_at:%Y-%m-%d %H:%M}  {kind:<14} {requested_by:<14} {state:<9} {item.receipt_id}")
        for name, outdated in (("conversations", tonight.conversations), ("traces", tonight.traces)):
            if outdated.days is not None:
                due = TEXTS[f"erasure.old_{name}"].in_language(locale).format(count=outdated.count, days=outdated.days)
                print(f"{tonight.next_run:%Y-%m-%d %H:%M}  {due}")

    with_rpc(data, work)


def _print(receipt: Receipt, locale: str, *, as_json: bool) -> None:
    if as_json:
        print_json(receipt.to_wire())
        return
    from contracts.receipt_words import remains_text

    state = word(TEXTS.section("erasure"), f"state.{receipt.state}", locale)
    words = TEXTS["erasure.receipt"].in_language(locale)
    print(words.format(receipt=receipt.receipt_id, state=state, conversations=receipt.conversations))
    for entry in receipt.removed:
        if entry.removed or entry.remains:
            count = f"≥ {entry.removed}" if entry.at_least else str(entry.removed)
            print(f"  {entry.place:<24} {count:>6}")
        if entry.remains:
            deadline_note = f"→ {entry.gone_after:%Y-%m-%d %H:%M}: " if entry.gone_after else ""
            print(f"    {deadline_note}{remains_text(entry, locale) or entry.remains}")
