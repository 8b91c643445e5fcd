"""Refuses new messages for a company whose visitors wait too long for an answer, so that its queue ends by itself.

A turn ends at its deadline at the latest, so an answer that comes later has waited for an agent before. Each gateway
sees every fact, so it measures this by itself; while nobody is answered at all, nobody is refused: what is accepted
then is answered as soon as an agent is back.
"""

from collections import deque

from gateway.errors import OverloadedError
from runtime.clock import Clock
from runtime.recent import Bounded

ANSWERS, RECENT_SECONDS = 16, 60.0
"""The company's last answers that are looked at, all of them so many seconds old at most."""
MAX_CONVERSATIONS, MAX_COMPANIES = 100_000, 10_000


class AnswerDelays:
    """Measures how long answers take, by company. `longest`: seconds after which an answer has waited for an agent."""

    def __init__(self, clock: Clock, longest: float) -> None:
        self._clock = clock
        self._longest = longest
        self._asked = Bounded[tuple[str, str], float](MAX_CONVERSATIONS)
        self._answered = Bounded[str, deque[tuple[float, float]]](MAX_COMPANIES)

    def observe(self, company: str, conversation: str, kind: str) -> None:
        """Takes note of a fact, whose kind is the end of its subject. Only an answer of the AI is measured; any other
        fact than a visitor's message ends the wait."""
        now, key = self._clock.monotonic(), (company, conversation)
        if kind == "message.visitor.v1":
            self._asked[key] = self._asked.get(key, now)
        elif (asked := self._asked.pop(key, None)) is not None and kind == "message.assistant.v1":
            answers = self._answered.get(company) or deque[tuple[float, float]](maxlen=ANSWERS)
            answers.append((now, now - asked))
            self._answered[company] = answers

    def admit(self, company: str) -> None:
        """Raises OverloadedError while most of the company's last answers came too late."""
        answers = self._answered.get(company, ())
        since = self._clock.monotonic() - RECENT_SECONDS
        if sum(at > since and delay > self._longest for at, delay in answers) > ANSWERS // 2:
            raise OverloadedError("many people are writing here right now: try again in a while")
