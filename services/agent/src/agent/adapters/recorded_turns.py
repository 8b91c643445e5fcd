"""Records of turns, read out of FACTS by whom they were for (ports of recording/explaining.py)."""

import orjson
from nats.aio.client import Client

from agent.errors import UnreachableError
from agent.recording.reading import RecordedTurn, recorded_turn
from contracts import channels
from contracts.ids import is_id
from contracts.streams import FACTS
from runtime.direct import DirectReader
from runtime.errors import ReadFailed

TYPE = "turns.recorded.v1"
PAGE, PAGES = 100, 50
"""Records of one person that are looked through, oldest first: 5,000 in 30 days."""


class RecordedTurns:
    """The turns that are on record."""

    def __init__(self, client: Client) -> None:
        self._facts = DirectReader(client, FACTS.name)

    async def find(self, company: str, user: str | None, turn_id: str) -> RecordedTurn | None:
        """The record of a turn; None when there is none (any more). Raises UnreachableError."""
        subject = channels.fact(TYPE, company, user if user and is_id(user) else None)
        position = 1
        for _ in range(PAGES):
            try:
                batch = await self._facts.batch(subject, position, PAGE)
            except ReadFailed as error:
                raise UnreachableError(f"the records of turns cannot be read: {error}") from error
            for fact in batch.facts:
                # Told apart before it is taken apart: a record can be large.
                if turn_id.encode() in fact.event and orjson.loads(fact.event)["data"]["turnId"] == turn_id:
                    return recorded_turn(fact.event)
            if not batch.more or not batch.facts:
                return None
            position = batch.facts[-1].seq + 1
        return None
