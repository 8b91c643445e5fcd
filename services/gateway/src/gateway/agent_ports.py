"""What the agents do for those at the door, as Protocols."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from contracts.agent_rpc import ImproveReply, ImproveRequest, ProvidersReply, SuggestReply
from contracts.completion_rpc import CompletePart, CompleteRequest, ModelName
from contracts.rpc import TurnState
from gateway.ports import Caller


class Writers(Protocol):
    """The agents' help for human agents. Each method raises Refused, Limited (budget spent) or Unavailable."""

    async def providers(self, company: str) -> ProvidersReply:
        """Which providers and models can be chosen."""
        ...

    async def suggest(self, company: str, conversation: str) -> SuggestReply:
        """Three replies to choose from."""
        ...

    async def improve(self, request: ImproveRequest) -> ImproveReply:
        """A draft, written better."""
        ...


class Completions(Protocol):
    """The copilot for callers who keep their conversation themselves."""

    async def models(self, company: str) -> list[ModelName]:
        """The names a completion may ask for; raises Refused (NOT_FOUND: no such company), Unavailable."""
        ...

    def complete(
        self, caller: Caller, request: CompleteRequest
    ) -> AbstractAsyncContextManager[AsyncIterator[CompletePart]]:
        """The answer in parts, the last one with its end; a block that is left early stops the work.

        Raises:
            Refused: NOT_FOUND with the field model, BAD_FIELD.
            Limited, TookTooLong, Unavailable: among the parts too.
        """
        ...


class Agents(Protocol):
    """The agents."""

    async def turn_state(self, company: str, conversation: str) -> TurnState | None:
        """The running turn with its text so far; None when nobody drives one (or says so in time)."""
        ...
