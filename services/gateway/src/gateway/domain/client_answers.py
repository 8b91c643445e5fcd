"""Questions that wait for an MCP client's answer, which arrives with another request, perhaps at another gateway."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.domain.carried_ids import new_carried_id, note_of

MOST = 512
"""Questions waiting in one gateway; each holds a stream open."""
MOST_OF_ONE = 8
"""Questions waiting for one caller."""
_PURPOSE = "question"


class TooManyQuestionsError(Exception):
    """Too many questions wait, or the gateway is ending: the call continues without asking."""


HandOn = Callable[[str, str, dict[str, object]], Awaitable[bool]]
"""Passes a response on, with its question and caller: whether another gateway waits for it and has it now."""


@dataclass(frozen=True, slots=True)
class ClientQuestion:
    """A question put to a client, under an id that proves whose it is."""

    id: str
    _answer: asyncio.Future[dict[str, object]]
    _seconds: float

    async def answer(self) -> dict[str, object]:
        """The JSON-RPC response; raises TimeoutError if none comes in time, or the gateway ends."""
        async with asyncio.timeout(self._seconds):
            return await self._answer


class Answers:
    """The waiting questions of one gateway. All gateways share `key`; `seconds` is how long a question waits."""

    def __init__(self, key: bytes, hand_on: HandOn, seconds: float) -> None:
        self._key = key
        self._hand_on = hand_on
        self._seconds = seconds
        self._waiting: dict[str, tuple[str, asyncio.Future[dict[str, object]]]] = {}
        self._of: Counter[str] = Counter()
        self._ending = False

    @contextmanager
    def question(self, caller: str) -> Generator[ClientQuestion]:
        """A question to this caller, open while the block lasts; raises TooManyQuestionsError."""
        if self._ending or len(self._waiting) >= MOST or self._of[caller] >= MOST_OF_ONE:
            raise TooManyQuestionsError
        name = new_carried_id(self._key, _PURPOSE, caller)
        answer: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()
        self._waiting[name] = (caller, answer)
        self._of[caller] += 1
        try:
            yield ClientQuestion(name, answer, self._seconds)
        finally:
            del self._waiting[name]
            self._of[caller] -= 1
            if not self._of[caller]:
                del self._of[caller]
            answer.cancel()

    async def offer(self, caller: str, response: dict[str, object]) -> bool:
        """Whether somebody waits for this response. It is passed on only if the question was put to this caller."""
        name = response.get("id")
        if not isinstance(name, str) or note_of(self._key, _PURPOSE, caller, name) is None:
            return False
        return self.take(name, caller, response) or await self._hand_on(name, caller, response)

    def take(self, question: str, caller: str, response: dict[str, object]) -> bool:
        """Whether the question waits here, was put to this caller, and had no answer yet."""
        asked, answer = self._waiting.get(question, (None, None))
        if answer is None or asked != caller or answer.done():
            return False
        answer.set_result(response)
        return True

    def stop(self) -> None:
        """Ends all questions and asks no more; what was asked stays undecided."""
        self._ending = True
        for _, answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(TimeoutError())
