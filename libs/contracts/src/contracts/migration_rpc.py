"""Migrations of stored documents that an upgrade has left to do, for operators."""

from pydantic import Field

from contracts.envelope import Wire
from contracts.rpc import Rpc

QUEUE = "memory"


class MigrationsRequest(Wire):
    """Asks for the migrations of this release."""


class Migration(Wire):
    """A change of stored documents, made a few at a time while everything runs."""

    name: str = Field(min_length=1, max_length=64)
    what: str = Field(description="what it does, in a sentence")
    left: int = Field(ge=0, description="documents that wait for it")


class MigrationsReply(Wire):
    """All migrations of this release, in the order in which to run them. `format`: the number of the format that the
    store has."""

    migrations: list[Migration]
    format: int
    release: str


class MigrateRequest(Wire):
    """Migrates the next few documents; repeat until none is left."""

    name: str = Field(min_length=1, max_length=64)


MIGRATIONS = Rpc("rpc.memory.migrations.v1", MigrationsRequest, MigrationsReply, queue=QUEUE)
MIGRATE = Rpc("rpc.memory.migrate.v1", MigrateRequest, Migration, queue=QUEUE)
