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
    """One migration. `count_left` counts the documents to migrate; `migrate_some` migrates the next few."""

    name: str
    description: str
    count_left: Callable[[], Awaitable[int]]
    migrate_some: Callable[[], Awaitable[None]]

    async def view(self) -> Migration:
        return Migration(name=self.name, what=self.description, left=await self.count_left())


def serve(service: Service, steps: tuple[MigrationStep, ...], store_format: int) -> None:
    """Serves the methods for as long as the service runs."""

    async def list_migrations(_: MigrationsRequest) -> MigrationsReply:
        return MigrationsReply(migrations=[await step.view() for step in steps], format=store_format, release=release())

    async def migrate(request: MigrateRequest) -> Migration:
        step = next((candidate for candidate in steps if candidate.name == request.name), None)
        if step is None:
            raise RpcError(ErrorCode.NOT_FOUND, f"this release knows no migration {request.name}")
        await step.migrate_some()
        return await step.view()

    service.serve(MIGRATIONS, list_migrations)
    service.serve(MIGRATE, migrate)
