"""Questions to MCP clients, and the ids that they carry."""

import asyncio
from typing import Any

import pytest

from gateway.domain.carried_ids import new_carried_id, note_of
from gateway.domain.client_answers import MAX_QUESTIONS_PER_CALLER, Answers, TooManyQuestionsError

KEY = b"a key"


class Nobody:
    """No other gateway waits for anything."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def hand_on(self, question: str, caller: str, response: dict[str, Any]) -> bool:
        self.asked.append(question)
        return False


def test_a_carried_id_is_read_by_whom_it_was_made_for_and_for_its_purpose_alone() -> None:
    made = new_carried_id(KEY, "session", "acme/user/u1", "er")
    assert note_of(KEY, "session", "acme/user/u1", made) == "er"
    assert note_of(KEY, "question", "acme/user/u1", made) is None
    assert note_of(KEY, "session", "acme/user/u2", made) is None
    assert note_of(b"another key", "session", "acme/user/u1", made) is None


def test_a_changed_carried_id_is_none() -> None:
    made = new_carried_id(KEY, "session", "acme/user/u1", "er")
    for other in (made.replace(".er.", ".ers."), made[:-1], made + "0", "", "ñ", made + "\n", made.upper()):
        assert note_of(KEY, "session", "acme/user/u1", other) is None


async def test_an_answer_reaches_the_question_that_was_put_to_its_sender() -> None:
    others = Nobody()
    answers = Answers(KEY, others.hand_on, 5.0)
    with answers.question("acme/user/u1") as question:
        response: dict[str, Any] = {"id": question.id, "result": {}}
        assert not await answers.offer("acme/user/u2", response)
        assert not await answers.offer("acme/user/u1", {"id": 1, "result": {}})
        assert others.asked == [], "what was not asked of its sender does not go onto the bus"
        assert not answers.accept(question.id, "acme/user/u2", response)
        assert await answers.offer("acme/user/u1", response)
        assert await question.answer() == response
        assert not answers.accept(question.id, "acme/user/u1", response), "it has one"
    assert not await answers.offer("acme/user/u1", response)
    assert others.asked == [question.id], "another gateway may wait for it"


async def test_a_question_waits_so_long_and_not_when_the_gateway_ends() -> None:
    with Answers(KEY, Nobody().hand_on, 0.01).question("acme/user/u1") as question, pytest.raises(TimeoutError):
        await question.answer()
    answers = Answers(KEY, Nobody().hand_on, 60.0)
    with answers.question("acme/user/u1") as question:
        asyncio.get_running_loop().call_soon(answers.stop)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await question.answer()
    with pytest.raises(TooManyQuestionsError), answers.question("acme/user/u1"):
        pass


async def test_one_caller_is_asked_so_many_things_at_once() -> None:
    answers = Answers(KEY, Nobody().hand_on, 5.0)

    def ask(left: int) -> None:
        with answers.question("acme/user/u1"):
            if left:
                ask(left - 1)
            else:
                with pytest.raises(TooManyQuestionsError), answers.question("acme/user/u1"):
                    pass
                with answers.question("acme/user/u2"):
                    pass

    ask(MAX_QUESTIONS_PER_CALLER - 1)
    with answers.question("acme/user/u1"):
        pass
