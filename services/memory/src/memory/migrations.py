"""Migrations of stored documents after an upgrade.

The only record of a migration is in the documents that it has changed, so it may be interrupted and repeated, even
concurrently, while everything runs.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contracts.errors import ErrorCode
from contracts.migration_rpc import MIGRATE, MIGRATIONS, MigrateRequest, Migration, MigrationsReply, MigrationsRequest
from runtime.errors import RpcError
from runtime.lifecycle.service import Service
from runtime.release import release


@dataclass(frozen=True)
class MigrationStep:
    """One migration. `left` counts the documents that remain; `some` migrates the next few."""

    name: str
    what: str
    left: Callable[[], Awaitable[int]]
    some: Callable[[], Awaitable[None]]

    async def view(self) -> Migration:
        return Migration(name=self.name, what=self.what, left=await self.left())


def serve(service: Service, changes: tuple[MigrationStep, ...], store_format: int) -> None:
    """Serves the methods for as long as the service runs."""

    async def all_of(_: MigrationsRequest) -> MigrationsReply:
        return MigrationsReply(
            migrations=[await change.view() for change in changes], format=store_format, release=release()
        )

    async def some(request: MigrateRequest) -> Migration:
        change = next((one for one in changes if one.name == request.name), None)
        if change is None:
            raise RpcError(ErrorCode.NOT_FOUND, f"this release knows no migration {request.name}")
        await change.some()
        return await change.view()

    service.serve(MIGRATIONS, all_of)
    service.serve(MIGRATE, some)
