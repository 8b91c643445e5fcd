"""Moves a provider to the end of the order for a while, when it asks for a pause or keeps failing.

It refuses no call: if there is no other provider, this one is still asked (see model_router.py). A pause that the
provider itself asked for is respected by all turns of this process.
"""

import time
from collections.abc import Callable

from agent.domain.turn.journal import ModelAnswer
from agent.errors import ModelBusyError, ModelDownError
from agent.ports import Model, ModelRequest, TextSink

FAILURES = 5
"""After this many failures in a row the provider rests."""
REST = 5.0
"""Seconds of the first rest; each further failure doubles it."""
LONGEST_REST = 60.0
"""Seconds of the longest rest."""
LONGEST_NAMED = 600.0
"""Seconds of the longest pause that a provider itself can name: who says more is asked again all the same."""
TRIAL = 5.0
"""Seconds for which one turn alone tries a provider that has rested."""


class CircuitBreaker:
    """One provider and its health. All turns of the process share one instance, since all of them learn from it."""

    def __init__(self, model: Model, clock: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self.provider = model.provider
        self._clock = clock
        self._failures = 0
        self._rests_until = 0.0
        self._busy_until = 0.0

    def available(self) -> bool:
        """Whether the provider may be asked before others. Half-open: after a pause one trial call is let through,
        and another one whenever TRIAL seconds have brought no result."""
        now = self._clock()
        if now < max(self._busy_until, self._rests_until):
            return False
        if self._failures >= FAILURES:
            self._rests_until = now + TRIAL
        return True

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """The provider's reply; raises ModelError. During a pause of its own it is not asked at all."""
        left = self._busy_until - self._clock()
        if left > 0:
            raise ModelBusyError(f"{self.provider} asked to slow down", left)
        try:
            reply = await self._model.reply(prompt, sink)
        except ModelBusyError as error:
            if error.retry_after:
                named = min(error.retry_after, LONGEST_NAMED)
                self._busy_until = max(self._busy_until, self._clock() + named)
            raise
        except ModelDownError:
            self._failures += 1
            if self._failures >= FAILURES:
                rest = min(REST * 2 ** min(self._failures - FAILURES, 10), LONGEST_REST)
                self._rests_until = self._clock() + rest
            raise
        self._failures, self._rests_until = 0, 0.0
        return reply
