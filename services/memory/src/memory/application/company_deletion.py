"""Deletes a company: its settings, knowledge, conversations and remembered facts."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from contracts.company_rpc import CompanyDeleted, CompanyRequest
from contracts.erasure_rpc import Removed
from memory.application.companies import CompanyRegistry

CompanyEraser = Callable[[str], Awaitable[Mapping[str, int]]]
"""Deletes everything of a company; returns how much, by place. Raises a retryable MemoryServiceError."""


class CompanyDeletion:
    """Deletes companies. `forget_knowledge` deletes a company's knowledge; `stored` returns once everything in the
    log is in the store."""

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

    async def delete(self, asked: CompanyRequest) -> CompanyDeleted:
        """Deletes it; repeat the call if it fails. Not deleted: there is no such company, and nothing left of one.

        Raises:
            SettingsMovedError, and every MemoryServiceError for an unavailable store or service, or a projection that
                is behind.
        """
        company = asked.company_id
        # The settings first: services stop answering and reading for it, and nothing new comes in.
        there = await self._companies.delete(company)
        kept = await self._companies.get_with_deleted(company)
        found = Counter[str]()
        if kept is not None and kept.deleted:
            found["knowledge"] += await self._forget_knowledge(company)
            # What was said last may be on its way to the store, and would appear there after the deletion.
            await self._stored()
            for erase in self._erasers:
                found.update(await erase(company))
        removed = [Removed(place=place, removed=count) for place, count in sorted(found.items())]
        return CompanyDeleted(deleted=there or any(found.values()), removed=removed)
