"""A company's quota in the object storage. Memory counts it, since it is memory that deletes files."""

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc


class FileKeepRequest(Wire):
    """May this file be stored? It counts from now on, and only once if asked again."""

    company_id: CompanyId
    conversation_id: Id
    file_id: Id
    size: int = Field(ge=1, description="bytes")


class FileKeepReply(Wire):
    """False: the company's quota is used up. `most`: its bytes."""

    kept: bool
    most: int = Field(ge=0)


FILE_KEEP = Rpc("rpc.memory.file.keep.v1", FileKeepRequest, FileKeepReply, queue="memory")
