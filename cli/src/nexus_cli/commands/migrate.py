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
ANSWER_SECONDS = 60.0
"""Seconds in which memory must answer; each call changes a few documents."""
NOTICE_SECONDS = 3.0
"""Seconds without an answer after which the user is told so."""
MAX_UNCHANGED_ANSWERS = 50
"""Answers in a row without progress after which a migration is given up: its documents cannot be changed, or new ones
keep coming."""


def migrate(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Change stored documents to what this release needs, while services run. If interrupted, run it again."""

    async def work(rpc: RpcClient) -> None:
        from contracts.migration_rpc import MIGRATIONS, MigrationsRequest

        status = await answer_of(rpc.call(MIGRATIONS, MigrationsRequest(), deadline=ANSWER_SECONDS))
        print(f"memory is of release {status.release}, the store has format {status.format}")
        for migration in status.migrations:
            print(f"{migration.name}: {migration.what}; {migration.left or 'no'} documents wait for it", flush=True)
        if dry_run:
            return
        if undone := [
            problem
            for migration in status.migrations
            if migration.left and (problem := await _migrate_all(rpc, migration))
        ]:
            fail("; ".join(undone))

    with_rpc(data, work)


async def answer_of(call: Awaitable[T]) -> T:
    """Waits for memory's answer, and tells the user if it takes long."""
    notice = asyncio.get_running_loop().call_later(
        NOTICE_SECONDS,
        lambda: print(f"nexus: memory has not answered yet; it has {ANSWER_SECONDS:g} s", file=sys.stderr, flush=True),
    )
    try:
        return await call
    finally:
        notice.cancel()


async def _migrate_all(rpc: RpcClient, migration: Migration) -> str | None:
    from contracts.migration_rpc import MIGRATE, MigrateRequest

    fewest, unchanged_count = migration.left, 0
    while fewest:
        remaining = (
            await answer_of(rpc.call(MIGRATE, MigrateRequest(name=migration.name), deadline=ANSWER_SECONDS))
        ).left
        unchanged_count = unchanged_count + 1 if remaining >= fewest else 0
        if remaining < fewest:
            fewest = remaining
            print(f"{migration.name}: {remaining} left", flush=True)
        if unchanged_count >= MAX_UNCHANGED_ANSWERS:
            return f"{migration.name} stands still at {remaining} documents: memory's log says why; run it again"
    return None
