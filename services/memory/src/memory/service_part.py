"""The parts of a replica besides its methods."""

from typing import Protocol, runtime_checkable


class ServicePart(Protocol):
    """Something that runs in the background and must be stopped."""

    async def start(self) -> None: ...

    async def stop(self) -> None:
        """Ends within a few seconds."""
        ...


@runtime_checkable
class Loop(Protocol):
    """A part with a loop of its own; one that has ended or hangs is noticed."""

    name: str

    def stuck_because(self) -> str | None:
        """See runtime.liveness."""
        ...
