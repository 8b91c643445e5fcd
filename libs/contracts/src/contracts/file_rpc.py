"""A company's share of the object storage: memory counts what is kept, since it is memory that deletes it."""

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Method, Rpc


class FileKeepRequest(Wire):
    """May this file be kept? It is counted from now on; asked again, it is counted once."""

    company_id: CompanyId
    conversation_id: Id
    file_id: Id
    size: int = Field(ge=1, description="bytes")


class FileKeepReply(Wire):
    """False: the company's share is used up. `most`: its bytes."""

    kept: bool
    most: int = Field(ge=0)


FILE_KEEP = Rpc("rpc.memory.file.keep.v1", FileKeepRequest, FileKeepReply, queue="memory")

METHODS: tuple[Method, ...] = (FILE_KEEP,)
