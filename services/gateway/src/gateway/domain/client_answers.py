"""Questions that wait for an MCP client's answer, which arrives with another request, perhaps at another gateway."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from gateway.domain.carried_ids import new_carried_id, note_of

MAX_QUESTIONS = 512
"""Questions that may wait in one gateway; each keeps a stream open."""
MAX_QUESTIONS_PER_CALLER = 8
"""Questions that may wait for one caller."""
_PURPOSE = "question"


class TooManyQuestionsError(Exception):
    """Too many questions wait, or the gateway is stopping: the call continues without the question."""


ForwardAnswer = Callable[[str, str, dict[str, object]], Awaitable[bool]]
"""Forwards a response (question id, caller, response); returns whether another gateway waited for it and has it now."""


@dataclass(frozen=True, slots=True)
class ClientQuestion:
    """A question to a client. Its id proves to which caller it was put."""

    id: str
    _answer: asyncio.Future[dict[str, object]]
    _seconds: float

    async def answer(self) -> dict[str, object]:
        """Waits for the JSON-RPC response; raises TimeoutError if none arrives in time or the gateway stops."""
        async with asyncio.timeout(self._seconds):
            return await self._answer


class Answers:
    """The questions that wait in one gateway, each for `seconds` at most. All gateways share `key`."""

    def __init__(self, key: bytes, forward: ForwardAnswer, seconds: float) -> None:
        self._key = key
        self._forward = forward
        self._seconds = seconds
        self._waiting: dict[str, tuple[str, asyncio.Future[dict[str, object]]]] = {}
        self._count_by_caller: Counter[str] = Counter()
        self._is_stopping = False

    @contextmanager
    def question(self, caller: str) -> Generator[ClientQuestion]:
        """A new question to this caller, which waits while the context lasts; raises TooManyQuestionsError."""
        if (
            self._is_stopping
            or len(self._waiting) >= MAX_QUESTIONS
            or self._count_by_caller[caller] >= MAX_QUESTIONS_PER_CALLER
        ):
            raise TooManyQuestionsError
        question_id = new_carried_id(self._key, _PURPOSE, caller)
        answer: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()
        self._waiting[question_id] = (caller, answer)
        self._count_by_caller[caller] += 1
        try:
            yield ClientQuestion(question_id, answer, self._seconds)
        finally:
            del self._waiting[question_id]
            self._count_by_caller[caller] -= 1
            if not self._count_by_caller[caller]:
                del self._count_by_caller[caller]
            answer.cancel()

    async def offer(self, caller: str, response: dict[str, object]) -> bool:
        """Gives a response to the question that it answers, at any gateway; returns whether that was waiting for it.
        Ignores responses to questions that were not put to this caller."""
        question_id = response.get("id")
        if not isinstance(question_id, str) or note_of(self._key, _PURPOSE, caller, question_id) is None:
            return False
        return self.accept(question_id, caller, response) or await self._forward(question_id, caller, response)

    def accept(self, question: str, caller: str, response: dict[str, object]) -> bool:
        """Gives a response to a question that waits here, was put to this caller and has no answer; returns whether
        there was one."""
        asked_caller, answer = self._waiting.get(question, (None, None))
        if answer is None or asked_caller != caller or answer.done():
            return False
        answer.set_result(response)
        return True

    def stop(self) -> None:
        """Ends all questions without an answer, and accepts no more."""
        self._is_stopping = True
        for _, answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(TimeoutError())
