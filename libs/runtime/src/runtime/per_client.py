"""Objects of which each connection to the bus has one, whoever asks for it."""

from typing import Self

from nats.aio.client import Client

_KEPT = "_nexus_per_client"


class PerClient:
    """`of(client)` returns the client's own one, created on first use.

    It is kept on the client and ends with it. A table by client would keep every client that there ever was, because
    what it holds refers back to the client.
    """

    def __init__(self, client: Client) -> None:
        raise NotImplementedError

    @classmethod
    def of(cls, client: Client) -> Self:
        """The client's one, created on first use."""
        kept: dict[type, Self] = vars(client).setdefault(_KEPT, {})
        found = kept.get(cls)
        if found is None:
            found = kept[cls] = cls(client)
        return found
