"""What is said where no tool and no page was found for a question, and follow-ups that lean on an order."""

from datetime import date
from typing import Any

import pytest

from agent.domain.analysis.relative_days import with_past_days
from agent.domain.offline.assistant import respond
from agent.domain.offline.intents import wish_in
from agent.domain.offline.step_results import SayText, UseTools
from agent.domain.offline.steps import next_step
from agent.domain.offline.unread import has_effects
from agent.domain.offline.wishes import Intent
from agent.testing.offered import SCHEMAS
from agent.testing.passages import answered, passage
from contracts.knowledge import KnowledgeFound

OFFERED = {name: item for name, item in SCHEMAS.items() if name != "fetch_page"}


def said(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


def test_of_a_share_about_which_something_unread_is_asked_the_price_is_told_as_no_more_than_that() -> None:
    asked = said("does IBM have a nice tickety boo canteen?")
    assert respond(asked, OFFERED, "en") == UseTools((("get_price", {"symbol": "IBM"}),))
    call = {"id": "1", "function": {"name": "get_price", "arguments": '{"symbol": "IBM"}'}}
    body = '{"symbol": "IBM", "price": 199.5, "change": 1, "change_percent": 0.5, "source": "sample"}'
    told = respond(
        [*asked, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "1", "content": body}],
        OFFERED, "en", introduced=True,
    )  # fmt: skip
    assert isinstance(told, SayText)
    assert told.text.startswith("I am not sure what you want to know about IBM. IBM: 199.5")


def test_a_term_that_no_pattern_knows_is_looked_up_in_the_glossary() -> None:
    asked = said("what is a dark pool")
    assert respond(asked, OFFERED, "en") == UseTools((("explain_concept", {"concept": "dark pool"}),))
    for text in ("how does the market work?", "¿cómo funciona la plataforma?"):
        assert not (isinstance(made := respond(said(text), OFFERED, "en"), UseTools) and "explain" in made.calls[0][0])


def test_what_was_just_told_is_told_again_where_it_is_asked_for() -> None:
    asked = [*said("highest price of IBM in the past year"), {"role": "assistant", "content": "high 211 on 5 October"}]
    told = respond([*asked, *said("and when was that")], OFFERED, "en", introduced=True)
    assert isinstance(told, SayText)
    assert told.text.endswith("high 211 on 5 October")
    page = {"role": "assistant", "content": "Northwind is a demonstration. (Source: Home, http://127.0.0.1:8080/)"}
    again = respond([*said("what is this?"), page, *said("how much is it?")], OFFERED, "en", introduced=True)
    assert not (isinstance(again, SayText) and "demonstration" in again.text)


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (["compra 5 IBM", "me lo tengo que pensar"], "cancela la orden"),
        (["¿cuál es la acción que más ha subido hoy?"], "lista de todas las acciones"),
        (["¿qué acciones hay?"], "lista de todas las acciones"),
        (["show me one thing"], "I do not know"),
        (["no entiendo nada, soy nuevo"], "Esto es lo que puedo hacer"),
    ],
)
def test_an_unread_message_gets_what_helps_there(texts: list[str], answer: str) -> None:
    response = respond(said(*texts), OFFERED, "es")
    assert isinstance(response, SayText)
    assert answer in response.text


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        ("buy 3 MSFT", "what does it cost in total?", ("part", 3, None)),
        ("buy 3 MSFT at 29", "hmm, 50 is too many? how much would that be", ("part", 50, 29)),
        ("", "how many microsofts would that get me", ("means", 0, None)),
        ("", "si compro mil quinientos dólares de IBM, ¿cuántas acciones serían?", ("affordable", 1500, None)),
        ("", "what would 1000 in IBM a year ago be worth now", ("grown", 1000, None)),
    ],
)
def test_what_an_order_or_a_sum_comes_to(before: str, text: str, expected: tuple[str, float, float | None]) -> None:
    wish = wish_in(text, SCHEMAS, [before] if before else [])
    assert (wish.way, wish.amount, wish.unit_price) == expected


def test_a_sum_of_a_year_ago_is_multiplied_by_the_return_since() -> None:
    wish = wish_in("si hubiera metido 2000 en apple hace un año, ¿cuánto tendría?", SCHEMAS)
    assert wish.calls == (("get_performance", {"tickers": ["AAPL"], "period": "1y"}),)
    figures = [{"ticker": "AAPL", "figure": "return", "value": 0.5, "asked": "1y"}]
    step = next_step(wish, [(*wish.calls[0], {"figures": figures, "source": "sample"})], "es")
    assert isinstance(step, SayText)
    assert step.text.endswith("1,5 × 2000 = 3000")


@pytest.mark.parametrize(
    ("text", "intent"), [("ok yes", Intent.TOOL), ("don't", Intent.NOT_YET), ("ok", Intent.FINE), ("no", Intent.FINE)]
)
def test_a_yes_or_a_no_after_another_question_than_the_orders_is_told_what_waits(text: str, intent: Intent) -> None:
    wish = wish_in(text, SCHEMAS, ["buy 3 MSFT", "price of MSFT"])
    assert wish.intent is intent
    assert [tool for tool, _ in wish.calls] == (["get_pending_orders"] if intent is Intent.TOOL else [])


@pytest.mark.parametrize(
    ("text", "condition", "share"),
    [
        ("set alert msft +3%", ">=", 1.03),
        ("ibm alert -5%", "<=", 0.95),
        ("tell me when ibm is up 5%", ">=", 1.05),
    ],
)
def test_an_alert_at_so_many_per_cent_with_a_sign(text: str, condition: str, share: float) -> None:
    wish = wish_in(text, SCHEMAS)
    assert (wish.way, wish.calls[0][1]["condition"], wish.amount) == ("at_share", condition, share)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("sube a 20", {"quantity": 20.0}),
        ("ponle límite 18", {"quantity": 10.0, "limit_price": 18.0}),
        ("espera, si baja de 18 mejor", {"quantity": 10.0, "limit_price": 18.0}),
        ("sí, pero solo si cae a 18", {"quantity": 10.0, "limit_price": 18.0}),
        ("make it 12 shares", {"quantity": 12.0}),
        ("sí pero a límite 17", {"quantity": 10.0, "limit_price": 17.0}),
    ],
)
def test_an_order_is_changed_in_short_words(text: str, changed: dict[str, float]) -> None:
    wish = wish_in(text, SCHEMAS, ["compra 10 FB"])
    assert (wish.way, changed.items() <= wish.calls[0][1].items()) == ("replace", True)


@pytest.mark.parametrize(
    "text",
    [
        "y si baja a 18",
        "what if it falls to 18",
        "ok but if it drops 5%",
        "wait until 18",
        "not above 18",
        "no, a las 16",
    ],
)
def test_what_is_only_imagined_or_cannot_be_waited_for_changes_no_order(text: str) -> None:
    assert not has_effects(wish_in(text, SCHEMAS, ["compra 10 FB"]))


def test_another_sum_or_what_is_to_be_kept_is_no_number_of_shares() -> None:
    wish = wish_in("no, $100", SCHEMAS, ["buy 3 FB"])
    assert (wish.way, wish.amount, "quantity" in wish.calls[0][1]) == ("spend", 100, False)
    assert wish_in("no, keep 1", SCHEMAS, ["sell all my IBM"]).calls[0][1]["kept"] == 1.0


def test_a_sum_to_spend_stays_one_at_a_limit() -> None:
    wish = wish_in("sí pero a límite 27", SCHEMAS, ["compra acciones de msft por valor de 3.000 dólares"])
    assert (wish.way, wish.amount, wish.calls[0][1]["limit_price"]) == ("spend", 3000, 27.0)


def test_a_day_without_its_year_is_the_last_one() -> None:
    read = with_past_days("FB on the 3rd of october, IBM on december 25", date(2012, 12, 11))
    assert read == "FB on 2012-10-03, IBM on 2011-12-25"


def test_a_sum_whose_share_is_asked_for_stays_the_sum() -> None:
    before = ["put 5k into whichever is cheaper, apple or ibm"]
    assert wish_in(before[0], SCHEMAS).missing == ("symbol",)
    wish = wish_in("ok apple then", SCHEMAS, before)
    assert (wish.calls[0][1]["symbol"], wish.way, wish.amount, wish.missing) == ("AAPL", "spend", 5000, ())


def test_money_at_risk_is_a_share_of_the_capital() -> None:
    wish = wish_in("how many shares with 15k, risk 150 dollars, entry 195, stop 190", SCHEMAS)
    assert wish.calls[0][1]["risk_percent"] == 0.01


def test_a_customer_whose_plan_has_no_orders_is_told_so_without_a_share() -> None:
    assert wish_in("buy me 1", {name: item for name, item in SCHEMAS.items() if "order" not in name}).withheld


def test_a_question_for_a_plan_that_names_a_tool_is_asked_of_the_site() -> None:
    pages = [
        passage("Guide", "An alert fires once, when its condition becomes true.", heading=["Alerts"]),
        passage("Prices", "Orders, price alerts and history", heading=["Pro"]),
    ]
    knowledge = KnowledgeFound(passages=pages, documents=len(pages))
    asked = said("which plan is best for my alerts?")
    answer = respond(asked, {"fetch_page": SCHEMAS["fetch_page"]}, "en", knowledge=knowledge, introduced=True)
    assert isinstance(answer, SayText)
    assert "This comes closest" in answer.text


def test_a_sentence_with_the_word_where_tells_no_place() -> None:
    told = [passage("Guide", "Ask the assistant: it says where a figure comes from.")]
    assert not answered("where is your company based?", told, "en").startswith("Ask the assistant")
    assert not answered("what's your address?", told, "en").startswith("Ask the assistant")


def test_beside_an_answer_stands_no_section_in_another_language() -> None:
    pages = [
        passage("Guide", "The Pro plan costs 29 USD per month.", heading=["Pro"]),
        passage("Sobre", "La company tiene su sede en Pro.", "es", heading=["Sede"]),
    ]
    told = answered("is Pro good for a company of schools?", pages, "en")
    assert "29 USD per month" in told
    assert "sede" not in told


@pytest.mark.parametrize(("plan", "answer"), [("pro", "Tienes el plan Pro."), (None, "No lo sé")])
def test_the_plan_that_is_told_is_the_customers_whatever_tools_their_company_has_switched_off(
    plan: str | None, answer: str
) -> None:
    told = respond(said("¿en qué plan estoy?"), OFFERED, "es", introduced=True, plan=plan)
    assert isinstance(told, SayText)
    assert told.text.startswith(answer)


def test_below_the_customers_plan_stands_only_what_else_was_asked() -> None:
    pages = [
        passage("Changes", "You can change the plan you are on whenever you like.", heading=["Changing plan"]),
        passage("Prices", "The Pro plan costs 29 USD per month.", heading=["Pro"]),
    ]
    found = KnowledgeFound(passages=pages, documents=len(pages))

    def told(question: str) -> SayText | UseTools:
        return respond(said(question), OFFERED, "en", introduced=True, plan="pro", knowledge=found)

    assert told("which plan am I on?") == SayText("You are on the Pro plan.")
    assert told("which plan am I on, and what does Pro cost?") == SayText(
        "You are on the Pro plan.\nThe Pro plan costs 29 USD per month. [2]"
    )


@pytest.mark.parametrize("question", ["are my orders real money?", "Do my orders move real money?"])
def test_a_visitors_question_about_what_needs_an_account_is_answered_by_the_site(question: str) -> None:
    rule = "No. Orders are paper orders: they follow market data, but no real money moves."
    told = answered(question, [passage("Help", rule, heading=["Is this real trading?"])], "en")
    assert rule in told


def test_a_visitors_command_that_needs_an_account_needs_one() -> None:
    told = answered("show my orders", [passage("Help", "Orders are paper orders.", heading=["Orders"])], "en")
    assert told == "You need to be signed in for that, with a plan that includes it."
