"""Searches the company's knowledge. The search travels with the request that reserves tokens; if there is none, or it
comes back without an answer, it is sent by itself."""

import asyncio

from agent.early_start import start_early
from agent.ports import KnowledgeReader
from contracts.knowledge import KnowledgeFound, KnowledgeQuery


class PassageQuery:
    """The search for one question (ports.Search)."""

    def __init__(self, knowledge: KnowledgeReader, company: str, query: KnowledgeQuery | None) -> None:
        """`query` None: there is nothing to look for."""
        self._knowledge = knowledge
        self._company = company
        self.asked = query
        self._found: asyncio.Future[KnowledgeFound | None] = asyncio.get_running_loop().create_future()
        self._asking: asyncio.Task[None] | None = None
        if query is None:
            self.answered(None)

    @property
    def query(self) -> KnowledgeQuery | None:
        """Returns the query that is still to be made; None if the result is known or on its way."""
        return None if self._found.done() or self._asking is not None else self.asked

    def answered(self, found: KnowledgeFound | None) -> None:
        """Takes the result; None if it cannot be had."""
        if not self._found.done():
            self._found.set_result(found)

    def alone(self) -> None:
        """Sends the query by itself, if it has not been sent."""
        query = self.query
        if query is not None:
            self._asking = start_early(self._ask(query))

    async def found(self) -> KnowledgeFound | None:
        """Returns what was found, or raises what its own request raised."""
        return await asyncio.shield(self._found)

    def close(self) -> None:
        """Cancels the search: its result is no longer needed."""
        self._found.cancel()
        if self._asking is not None:
            self._asking.cancel()

    async def _ask(self, query: KnowledgeQuery) -> None:
        try:
            self.answered(await self._knowledge.search(self._company, query))
        except Exception as error:
            if not self._found.done():
                self._found.set_exception(error)
                self._found.exception()  # perhaps nobody waits for it
