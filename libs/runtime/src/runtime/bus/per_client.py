"""Objects of which each connection to the bus has one, whoever asks for it."""

from abc import ABC, abstractmethod
from typing import Self

from nats.aio.client import Client

_KEPT = "_nexus_per_client"


class PerClient(ABC):
    """`of(client)` returns the client's own one, created on first use.

    It is kept on the client and ends with it. A table by client would keep every client that there ever was, because
    what it holds refers back to the client.
    """

    @abstractmethod
    def __init__(self, client: Client) -> None:
        """A kind is made of its client alone."""

    @classmethod
    def of(cls, client: Client) -> Self:
        """The client's one, created on first use."""
        kept: dict[type, Self] = vars(client).setdefault(_KEPT, {})
        found = kept.get(cls)
        if found is None:
            found = kept[cls] = cls(client)
        return found
