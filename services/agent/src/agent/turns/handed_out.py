"""Runs the calls of a turn that are for the client's own tools: hands them out once all other calls have finished, and
waits for their results.

Like every call they are in the journal, so that an agent that takes the turn over hands them out again. Their results
arrive on the bus (runtime.client_results), whichever agent waits.
"""

import asyncio
import json
from collections.abc import Sequence

from agent.domain.client_tools import CATEGORY, inherited_call_ids
from agent.domain.turn.journal import Journal, TurnCall
from agent.ports import ConversationKey, Requester
from agent.turns.deps import Ports
from contracts.events.turn import HandedCall

RESULT_TIMEOUT_SECONDS = 60.0
"""Seconds to wait for a client's result."""
ANSWER_SECONDS = 20.0
"""Seconds of the turn that are reserved for the answer."""


class HandedOut:
    """The handed-out calls of one delivery. `waiting`: the calls whose results have not arrived; `pointless`: no result
    will come, because the user has written again or a person has taken over."""

    def __init__(self, ports: Ports, key: ConversationKey) -> None:
        self._ports = ports
        self._key = key
        self.waiting: tuple[HandedCall, ...] = ()
        self.pointless = False

    async def outcomes(self, journal: Journal, calls: Sequence[TurnCall], requester: Requester) -> dict[str, str]:
        """Returns result texts by call id; the result of a call that got none in time says so."""
        remaining = 0.0 if self.pointless else journal.deadline - self._ports.clock.now() - ANSWER_SECONDS
        seconds, earlier_call_ids = max(min(RESULT_TIMEOUT_SECONDS, remaining), 0.0), inherited_call_ids(journal)
        handed_out = [call for call in calls if seconds and call.call_id not in earlier_call_ids]
        self.waiting = tuple(
            HandedCall(call_id=call.call_id, tool=call.tool, arguments=json.loads(call.arguments))
            for call in handed_out
        )
        for position, call in enumerate(self.waiting, start=1):
            notice = {"turnId": journal.turn_id, "left": len(handed_out) - position, "label": call.tool}
            self._ports.live.emit(self._key, "tool.started", {**call.to_wire(), **notice})
        try:
            results = await asyncio.gather(
                *(
                    self._outcome(journal.turn_id, call, requester, seconds if call in handed_out else 0.0)
                    for call in calls
                )
            )
        finally:
            self.waiting = ()
        return dict(zip((call.call_id for call in calls), results, strict=True))

    async def _outcome(self, turn_id: str, call: TurnCall, requester: Requester, seconds: float) -> str:
        result = await self._ports.tools.outcome(self._key, call, CATEGORY, requester, turn_id, seconds)
        self.waiting = tuple(waiting for waiting in self.waiting if waiting.call_id != call.call_id)
        notice = {"turnId": turn_id, "callId": call.call_id, "tool": call.tool, "cached": False}
        self._ports.live.emit(
            self._key, "tool.finished", {**notice, "success": bool(json.loads(result).get("success"))}
        )
        return result
