"""`nexus migrate`: changes stored documents after an upgrade, while everything runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from nexus_cli.commands.bus import with_rpc
from nexus_cli.commands.failures import fail
from nexus_cli.commands.options import DEFAULT_DATA, Data

if TYPE_CHECKING:
    from contracts.migration_rpc import Migration
    from runtime.calls.rpc import RpcClient

T = TypeVar("T")
ANSWER = 60.0
"""Seconds for the next few documents."""
SILENT = 3.0
"""Seconds without an answer after which that is said."""
STANDING_STILL = 50
"""Answers without a document less, after which it is given up: they cannot be changed, or newer ones keep coming."""


def migrate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Change stored documents to what this release needs, while services run. If interrupted, run it again."""

    async def work(rpc: RpcClient) -> None:
        from contracts.migration_rpc import MIGRATIONS, MigrationsRequest

        found = await answered(rpc.call(MIGRATIONS, MigrationsRequest(), deadline=ANSWER))
        print(f"memory is of release {found.release}, the store has format {found.format}")
        for one in found.migrations:
            print(f"{one.name}: {one.what}; {one.left or 'no'} documents wait for it", flush=True)
        if dry_run:
            return
        if undone := [said for one in found.migrations if one.left and (said := await _all_of(rpc, one))]:
            fail("; ".join(undone))

    with_rpc(data, work)


async def answered(call: Awaitable[T]) -> T:
    """Memory's answer; who waits for it for long is told so."""
    told = asyncio.get_running_loop().call_later(
        SILENT,
        lambda: print(f"nexus: memory has not answered yet; it has {ANSWER:g} s", file=sys.stderr, flush=True),
    )
    try:
        return await call
    finally:
        told.cancel()


async def _all_of(rpc: RpcClient, migration: Migration) -> str | None:
    from contracts.migration_rpc import MIGRATE, MigrateRequest

    least, still = migration.left, 0
    while least:
        left = (await answered(rpc.call(MIGRATE, MigrateRequest(name=migration.name), deadline=ANSWER))).left
        still = still + 1 if left >= least else 0
        if left < least:
            least = left
            print(f"{migration.name}: {left} left", flush=True)
        if still >= STANDING_STILL:
            return f"{migration.name} stands still at {left} documents: memory's log says why; run it again"
    return None
