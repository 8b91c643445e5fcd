"""Searches the company's knowledge. The query travels with the request that reserves tokens. If there is no such
request, or it fails, the query is sent in a request of its own. If it found too little because the
company's site is being read for the first time, it is sent once more, and waits for the reading."""

import asyncio
from contextlib import suppress

from agent.ports import KnowledgeReader
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from runtime.background import start_early

SURE_SCORE = 0.8
"""The score of a passage that answers although other pages have not been read."""


class PassageQuery:
    """The search for one question (ports.Search)."""

    def __init__(self, knowledge: KnowledgeReader, company: str, query: KnowledgeQuery | None) -> None:
        """`query`: None if there is nothing to search for."""
        self._knowledge = knowledge
        self._company = company
        self.original_query = query
        self._result: asyncio.Future[KnowledgeFound | None] = asyncio.get_running_loop().create_future()
        self._request: asyncio.Task[None] | None = None
        if query is None:
            self.set_result(None)

    @property
    def query(self) -> KnowledgeQuery | None:
        """Returns the query that is still to be made; None if the result is known or on its way."""
        return None if self._result.done() or self._request is not None else self.original_query

    def set_result(self, result: KnowledgeFound | None) -> None:
        """Sets the result, if there is none yet; None means that the search failed."""
        if self._result.done():
            return
        is_early = (
            result is not None
            and result.reading
            and not any(passage.exact or passage.score >= SURE_SCORE for passage in result.passages)
        )
        if is_early and self.original_query is not None:
            self._request = start_early(self._search_when_read(self.original_query, result))
        else:
            self._result.set_result(result)

    def send_alone(self) -> None:
        """Sends the query in a request of its own, if it has not been sent."""
        query = self.query
        if query is not None:
            self._request = start_early(self._send(query))

    async def result(self) -> KnowledgeFound | None:
        """Waits for the result and returns it, or raises the error of the search's own request."""
        return await asyncio.shield(self._result)

    def close(self) -> None:
        """Cancels the search: its result is no longer needed."""
        self._result.cancel()
        if self._request is not None:
            self._request.cancel()

    async def _search_when_read(self, query: KnowledgeQuery, early: KnowledgeFound | None) -> None:
        found = early
        with suppress(Exception):
            found = await self._knowledge.search(self._company, query, when_read=True) or early
        if not self._result.done():
            self._result.set_result(found)

    async def _send(self, query: KnowledgeQuery) -> None:
        try:
            self.set_result(await self._knowledge.search(self._company, query))
        except Exception as error:
            if not self._result.done():
                self._result.set_exception(error)
                self._result.exception()  # marked as seen, in case nobody awaits it
