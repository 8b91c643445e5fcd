"""Migrations of stored documents after an upgrade."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from contracts.migration_rpc import Migration


@dataclass(frozen=True)
class MigrationStep:
    """One migration. `left`: how many documents remain; `some` migrates the next few."""

    name: str
    what: str
    left: Callable[[], Awaitable[int]]
    some: Callable[[], Awaitable[None]]

    async def told(self) -> Migration:
        return Migration(name=self.name, what=self.what, left=await self.left())
