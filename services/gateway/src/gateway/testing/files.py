"""For tests: a stand-in for memory that decides whether a company has room for a file."""

from dataclasses import dataclass

from contracts.file_rpc import FILE_KEEP, FileKeepReply, FileKeepRequest
from runtime.calls.rpc import RpcServer


@dataclass
class FileShareStandIn:
    """One limit for all companies, in bytes."""

    most: int = 10**9
    used: int = 0

    async def serve(self, server: RpcServer) -> None:
        """Starts answering."""
        await server.serve(FILE_KEEP, self._keep)

    async def _keep(self, request: FileKeepRequest) -> FileKeepReply:
        has_room = self.used + request.size <= self.most
        self.used += request.size if has_room else 0
        return FileKeepReply(kept=has_room, most=self.most)
