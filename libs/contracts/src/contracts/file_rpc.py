"""A company's quota in the object storage. Memory counts it, since it is memory that deletes files."""

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc


class FileKeepRequest(Wire):
    """Asks whether this file may be stored. If so it counts from now on, and only once however often this is asked."""

    company_id: CompanyId
    conversation_id: Id
    file_id: Id
    size: int = Field(ge=1, description="bytes")


class FileKeepReply(Wire):
    """`kept` is False if the company's quota is used up. `most`: the quota in bytes."""

    kept: bool
    most: int = Field(ge=0)


FILE_KEEP = Rpc("rpc.memory.file.keep.v1", FileKeepRequest, FileKeepReply, queue="memory")
