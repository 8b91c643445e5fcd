"""Objects of which each connection to the bus has exactly one, shared by all its users."""

from abc import ABC, abstractmethod
from typing import Self

from nats.aio.client import Client

_ATTRIBUTE = "_nexus_per_client"


class PerClient(ABC):
    """Base class: `of(client)` returns the client's instance, created on first use.

    The instance is an attribute of the client and dies with it. A table by client would keep every client for ever,
    because the instances refer back to it.
    """

    @abstractmethod
    def __init__(self, client: Client) -> None:
        """A subclass is built from its client alone."""

    @classmethod
    def of(cls, client: Client) -> Self:
        """Returns the client's instance, created on first use."""
        instances: dict[type, Self] = vars(client).setdefault(_ATTRIBUTE, {})
        instance = instances.get(cls)
        if instance is None:
            instance = instances[cls] = cls(client)
        return instance
