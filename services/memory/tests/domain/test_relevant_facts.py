"""Of many facts, a prompt holds the one that the question is about, in whichever words and language it asks."""

import pytest

from contracts.memory_rpc import LongTermMemory
from memory.domain.relevant_facts import MAX_FACTS, relevant_facts

OTHERS = [f"my shelf {number} holds book {number}" for number in range(40)]


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("What do I do for a living?", "I work as a radiologist"),
        ("When do I stop working?", "I want to retire at 58"),
        ("¿Qué coche tengo?", "I own a grey Peugeot 308"),
        ("What happened to me with bitcoin?", "I lost 6,000 euros in crypto in 2022"),
        ("What exam am I preparing?", "I study for the CFA"),
        ("Should I buy a cigarette maker?", "I stay away from tobacco"),
        ("What sports do I do?", "I play padel on Tuesdays"),
        ("How much do I give to charity?", "I donate 50 euros a month to Unicef"),
    ],
)
def test_a_prompt_holds_the_fact_that_the_question_is_about(question: str, fact: str) -> None:
    facts = relevant_facts(LongTermMemory(user_notes=[*OTHERS, fact]), question)
    assert facts[0] == fact
    assert len(facts) == MAX_FACTS
