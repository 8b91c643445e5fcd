"""Deleting a company: its settings end, and with them what is known, said and remembered under its name."""

from collections.abc import Awaitable, Callable

from memory.application.companies import CompanyRegistry
from memory.erasure_ports import CompanyEraser


class CompanyDeletion:
    """Deletes companies. `forget_knowledge` deletes what a company says."""

    def __init__(
        self, companies: CompanyRegistry, forget_knowledge: Callable[[str], Awaitable[None]], *erasers: CompanyEraser
    ) -> None:
        self._companies = companies
        self._forget_knowledge = forget_knowledge
        self._erasers = erasers

    async def delete(self, company: str) -> bool:
        """Deletes it; to be called again when it fails. False: there is no such company (any more).

        Raises:
            SettingsMoved, StoreUnavailable, BusUnavailable.
        """
        # The end first: whoever answers or reads for it stops, and nothing new comes in.
        there = await self._companies.delete(company)
        kept = await self._companies.kept(company)
        if kept is not None and kept.deleted:
            await self._forget_knowledge(company)
            for eraser in self._erasers:
                await eraser.erase_company(company)
        return there
