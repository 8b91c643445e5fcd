"""Deletes a company: its settings, knowledge, conversations and remembered facts."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from contracts.company_rpc import CompanyDeleted, CompanyRequest
from contracts.erasure_rpc import Removed
from memory.application.companies import CompanyRegistry

CompanyEraser = Callable[[str], Awaitable[Mapping[str, int]]]
"""Deletes everything of a company; returns how much, by place. Raises a retryable MemoryServiceError."""


class CompanyDeletion:
    """Deletes companies. `forget_knowledge` deletes a company's knowledge and returns how much; `stored` returns once
    everything in the log is in the store."""

    def __init__(
        self,
        companies: CompanyRegistry,
        forget_knowledge: Callable[[str], Awaitable[int]],
        stored: Callable[[], Awaitable[None]],
        *erasers: CompanyEraser,
    ) -> None:
        self._companies = companies
        self._forget_knowledge = forget_knowledge
        self._stored = stored
        self._erasers = erasers

    async def delete(self, request: CompanyRequest) -> CompanyDeleted:
        """Deletes a company; repeat the call if it fails. `deleted` is False if there was neither a company nor
        remaining data.

        Raises:
            MovedError, and every MemoryServiceError for an unavailable store or service, or a projection that
                lags behind.
        """
        company = request.company_id
        # The settings first: services stop answering and reading for it, and nothing new comes in.
        existed = await self._companies.delete(company)
        record = await self._companies.get_with_deleted(company)
        removed = Counter[str]()
        if record is not None and record.deleted:
            removed["knowledge"] += await self._forget_knowledge(company)
            # The newest messages may still be on their way to the store, and would appear there after the deletion.
            await self._stored()
            for erase in self._erasers:
                removed.update(await erase(company))
        places = [Removed(place=place, removed=count) for place, count in sorted(removed.items())]
        return CompanyDeleted(deleted=existed or any(removed.values()), removed=places)
