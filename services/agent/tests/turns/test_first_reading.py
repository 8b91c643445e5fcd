"""A question that comes while the company's site is read for the first time waits for the reading, within a bound."""

from dataclasses import dataclass, field

from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText
from agent.testing.passages import passage
from agent.turns.knowledge_search import SURE_SCORE, PassageQuery
from contracts.knowledge import KnowledgeFound, KnowledgeQuery

QUESTION = KnowledgeQuery(text="how much is the large box?", language="en")


@dataclass
class Reader:
    """Answers searches that wait for the reading; None: memory fails."""

    answer: KnowledgeFound | None
    waited: list[bool] = field(default_factory=list[bool])

    async def search(self, company: str, query: KnowledgeQuery, *, when_read: bool = False) -> KnowledgeFound | None:
        self.waited.append(when_read)
        return self.answer


async def asked(reader: Reader, early: KnowledgeFound) -> KnowledgeFound | None:
    search = PassageQuery(reader, "acme", QUESTION)
    search.set_result(early)
    try:
        return await search.result()
    finally:
        search.close()


async def test_what_finds_too_little_in_a_first_reading_is_asked_once_more() -> None:
    late = KnowledgeFound(documents=9, reading=True)
    reader = Reader(late)
    assert await asked(reader, KnowledgeFound(reading=True)) is late, "still being read: it is not asked a third time"
    assert reader.waited == [True]


async def test_it_stays_what_was_found_when_memory_fails() -> None:
    early = KnowledgeFound(documents=1, reading=True)
    assert await asked(Reader(None), early) is early


async def test_nothing_waits_that_is_read_or_surely_found() -> None:
    reader = Reader(None)
    sure = passage("Prices", "The large box costs 29 USD.", score=SURE_SCORE)
    for early in (KnowledgeFound(), KnowledgeFound(passages=[sure], documents=1, reading=True)):
        assert await asked(reader, early) is early
    assert reader.waited == []


def test_the_assistant_without_a_model_says_that_it_is_still_reading_and_not_that_the_site_does_not_tell() -> None:
    for documents in (0, 3):
        knowledge = KnowledgeFound(documents=documents, reading=True)
        for question, said in (
            ("do you rent boats?", "I am still reading"),
            ("¿alquiláis barcos?", "Todavía estoy leyendo"),
        ):
            messages = [{"role": "user", "content": question}]
            answer = respond(messages, (), "en", introduced=True, knowledge=knowledge)
            assert isinstance(answer, SayText)
            assert answer.text.startswith(said)
