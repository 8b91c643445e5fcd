"""Stores the results that clients return for handed calls."""

from collections.abc import Mapping
from typing import Any

import orjson
from nats.aio.client import Client

from contracts import channels
from gateway.adapters.log import SOURCE
from gateway.errors import UnavailableError
from runtime.bus.direct import DirectReader
from runtime.client_results import ClientResults
from runtime.errors import RuntimeLibraryError

Json = dict[str, Any]


class HandedCalls:
    """The handed calls of each conversation's running or last turn."""

    def __init__(self, client: Client) -> None:
        self._turns = DirectReader(client, "TURNS")
        self._results = ClientResults(client, SOURCE)

    async def store_results(self, company: str, conversation: str, results: Mapping[str, Json]) -> frozenset[str]:
        """Stores the results (by call id) of calls that still wait; the first result of a call counts. Returns which of
        the call ids belong to the turn, including those that had a result already.

        Raises:
            UnavailableError: the turn cannot be read, or the results cannot be stored, now.
        """
        try:
            journal = await self._turns.last(channels.journal(company, conversation))
            calls: list[Json] = orjson.loads(journal.event)["data"]["calls"] if journal and journal.genuine else []
            stored_results = {call["callId"]: call.get("result") for call in calls if call["callId"] in results}
            for call, result in stored_results.items():
                if result is None:
                    await self._results.store(company, conversation, call, results[call])
        except RuntimeLibraryError as error:
            raise UnavailableError("the result could not be stored now: send it again") from error
        return frozenset(stored_results)
