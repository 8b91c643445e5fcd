"""Moves a provider to the end of the order for a while when it asks for a pause or keeps failing.

The order is all that changes after failures: if there is no other provider, this one is still called (see
model_router.py). During a pause that the provider itself requested, no turn of this process calls it.
"""

import time
from collections.abc import Callable

from agent.domain.turn.journal import ModelAnswer
from agent.errors import ModelBusyError, ModelDownError
from agent.ports import Model, ModelRequest, TextSink

MAX_FAILURES = 5
"""Failures in a row after which the circuit opens: the provider is paused."""
FIRST_PAUSE_SECONDS = 5.0
"""Seconds of the first pause; each further failure doubles it."""
MAX_PAUSE_SECONDS = 60.0
"""Seconds of the longest pause."""
MAX_REQUESTED_PAUSE_SECONDS = 600.0
"""Seconds of the longest pause that a provider can request; longer requests are cut to it."""
TRIAL_SECONDS = 5.0
"""Seconds during which a single turn tries a provider after its pause."""


class CircuitBreaker:
    """One provider and its health, shared by all turns of the process."""

    def __init__(self, model: Model, clock: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self.provider = model.provider
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0
        self._busy_until = 0.0

    def available(self) -> bool:
        """Whether the provider may be called before others. Half-open: after a pause it returns True once for a trial
        call, and again whenever TRIAL_SECONDS have passed without a result."""
        now = self._clock()
        if now < max(self._busy_until, self._open_until):
            return False
        if self._failures >= MAX_FAILURES:
            self._open_until = now + TRIAL_SECONDS
        return True

    async def reply(self, prompt: ModelRequest, sink: TextSink) -> ModelAnswer:
        """Returns the provider's reply; raises ModelError. During a pause that the provider requested it is not
        called."""
        remaining = self._busy_until - self._clock()
        if remaining > 0:
            raise ModelBusyError(f"{self.provider} asked to slow down", remaining)
        try:
            reply = await self._model.reply(prompt, sink)
        except ModelBusyError as error:
            if error.retry_after:
                requested_pause = min(error.retry_after, MAX_REQUESTED_PAUSE_SECONDS)
                self._busy_until = max(self._busy_until, self._clock() + requested_pause)
            raise
        except ModelDownError:
            self._failures += 1
            if self._failures >= MAX_FAILURES:
                pause = min(FIRST_PAUSE_SECONDS * 2 ** min(self._failures - MAX_FAILURES, 10), MAX_PAUSE_SECONDS)
                self._open_until = self._clock() + pause
            raise
        self._failures, self._open_until = 0, 0.0
        return reply
