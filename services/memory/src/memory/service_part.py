"""What a replica of memory is made of besides its methods."""

from typing import Protocol, runtime_checkable


class ServicePart(Protocol):
    """Something with a life of its own beside the service's methods."""

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Ends within a few seconds."""
        ...


@runtime_checkable
class Loop(Protocol):
    """A part that works by itself: a loop that ended or stands still is noticed."""

    name: str

    def still(self) -> str | None:
        """See runtime.liveness."""
        ...
