"""A language that the agent's code has no words in is answered in Spanish, not with an error."""

from typing import cast

import pytest

from agent.domain.analysis.formats import joined, money, period_text
from agent.domain.hand_over import offered_with_hand_over
from agent.domain.offline.assistant import respond
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.prompt.layers import VisitorInfo, system_prompt
from agent.domain.prompt.messages import conversation
from agent.testing.offered import SCHEMAS
from agent.testing.passages import answered, passage
from contracts.languages import Language

PORTUGUESE = cast("Language", "pt")


@pytest.mark.parametrize(
    "text", ["Olá!", "AAPL?", "Quanto é o Pro?", "obrigado", "IBM 10 a mercado", "RSI MSFT", "2012-03-01 IBM"]
)
def test_the_offline_assistant_answers_or_uses_a_tool(text: str) -> None:
    asked = conversation("s", [(False, text)], (), language=PORTUGUESE, last=False)
    assert isinstance(respond(asked, SCHEMAS, PORTUGUESE, None), SayText | UseTools)


def test_prompts_and_figures_are_spanish() -> None:
    def said(language: Language) -> tuple[str, ...]:
        prompt = system_prompt(language, custom=None, visitor=VisitorInfo("/", "new", 2), tool_names=("get_price",))
        figures = joined([period_text("2012-03-01/2012-03-01", language), money(2.5e9, "USD", language)], language)
        return prompt, offered_with_hand_over((), language)[0].description, figures

    assert said(PORTUGUESE) == said("es")
    assert said("es")[2] == "El 1 de marzo de 2012 y 2,5 mil millones de USD"


@pytest.mark.parametrize(
    "text",
    [
        "Bonjour, quel est le prix pour un adulte ?",
        "Guten Tag, wann haben Sie geöffnet?",
        "olá, vocês fazem mudanças para o Porto?",
        "Buongiorno, quanto costa un biglietto?",
    ],
)
def test_a_message_in_a_neighbours_language_is_told_that_it_is_not_understood(text: str) -> None:
    said = answered(text, [passage("Prices", "A ticket for an adult costs 12 €.")], "en")
    assert said.startswith("Sorry, I only understand English and Spanish.")
