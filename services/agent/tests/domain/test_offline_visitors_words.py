"""What visitors of any company's site write beside questions: they wait, leave it, complain, report, come with others.
And words of their questions that a site does not have."""

import pytest

from agent.domain.offline.answers import is_unknown
from agent.domain.offline.concepts import requested_term
from agent.domain.offline.fallback_answers import answer_otherwise
from agent.domain.offline.intents import wish_in
from agent.domain.offline.small_talk import accepts_offer
from agent.domain.offline.wishes import Intent, Wish
from agent.testing.passages import answered, passage


@pytest.mark.parametrize("said", ["vale espero", "ok i'll wait", "vale, me espero", "I can wait, thanks", "sí", "yes"])
def test_who_waits_accepts_the_person_that_was_offered(said: str) -> None:
    assert accepts_offer(said)


@pytest.mark.parametrize("said", ["cuánto espero", "espero que abráis", "wait", "how long do i wait", "no"])
def test_other_words_of_waiting_accept_nobody(said: str) -> None:
    assert not accepts_offer(said)


@pytest.mark.parametrize(
    "said", ["vale espero", "no hace falta, déjalo", "gracias, no hace falta", "no need", "da igual", "don't worry, ok"]
)
def test_small_words_that_leave_it_at_that_are_small_talk(said: str) -> None:
    assert wish_in(said, (), trades=False).intent in (Intent.FINE, Intent.THANKS)


@pytest.mark.parametrize(
    "said", ["no hace falta dni?", "hace falta reserva", "do i need to wait", "da igual el tamaño?"]
)
def test_questions_with_these_words_are_questions(said: str) -> None:
    assert wish_in(said, (), trades=False).intent is Intent.UNKNOWN


@pytest.mark.parametrize(
    "said",
    [
        "menuda estafa, ya pagué el mes entero",
        "this is a joke, i've lost orders because of you",
        "esto es un robo",
        "you're a scam",
    ],
)
def test_a_complaint_is_answered_with_the_offer_of_a_person(said: str) -> None:
    assert wish_in(said, (), trades=False).intent is Intent.UPSET


@pytest.mark.parametrize("said", ["is this a joke?", "cuéntame un chiste", "what happens if it is a scam"])
def test_questions_about_jokes_are_no_complaints(said: str) -> None:
    assert wish_in(said, (), trades=False).intent is not Intent.UPSET


WEBHOOKS = passage("Product", "Hook sends webhooks for your product.\n\n## Why\n\n- Webhooks arrive within seconds")
SIGN_IN = passage(
    "Support", "## I cannot sign in\n\nUse the link for a new password.\n\n## Logs\n\nLog search is fast."
)


def test_a_trouble_is_answered_for_certain_only_by_what_tells_of_troubles() -> None:
    assert "may be of use" in answered("my webhook did not arrive", [WEBHOOKS], "en")
    assert answered("i cant log in", [SIGN_IN], "en").startswith("Use the link")


FEES = passage("Tarifas", "Abono: 30 €.\n\n## Descuentos\n\nFamilias: el segundo miembro paga la mitad.", "es")
SEATS = passage("Pricing", "Prices are per workspace, not per seat: invite your colleagues.\n\nPro costs $39.")


@pytest.mark.parametrize("said", ["y si voy con mi mujer?", "y si somos tres en casa?", "si somos dos cuánto sería"])
def test_for_more_people_the_site_is_asked_what_they_pay(said: str) -> None:
    assert "segundo miembro" in answered(said, [FEES], "es", {"role": "user", "content": "cuánto cuesta"})


def test_for_a_company_the_site_is_asked_whether_each_pays() -> None:
    assert "not per seat" in answered("and if we are three in the company?", [SEATS], "en")


def test_a_rate_limit_is_neither_a_price_nor_another_limit() -> None:
    plans = passage("Plans", "## Free\n\nThe assistant, with a daily limit.\n\n## Pro\n\nPro costs 29 USD.")
    assert is_unknown(answered("What are the rate limits", [plans], "en"))


def test_a_common_word_may_be_one_of_the_columns_that_are_compared() -> None:
    table = "|  | Team | Business |\n| --- | --- | --- |\n| Price per month | $39 | $249 |\n| Endpoints | 100 | 500 |"
    told = answered("what's the difference between team and business", [passage("Pricing", table)], "en")
    assert "Price per month: Team $39, Business $249" in told


def test_that_there_is_no_telephone_answers_for_the_number() -> None:
    support = passage("Support", "Write to help@x.test.\n\nThere is no telephone support.")
    assert answered("is there a phone number", [support], "en").startswith("There is no telephone support.")


def test_no_verb_and_no_copyright_notice_is_quoted() -> None:
    footer = passage("Terms", "© 2026 Hook Ltd. All rights reserved. Terms, privacy and errors.", url="https://x.test/")
    assert "©" not in answered("what do you do", [footer, WEBHOOKS], "en")
    assert "tenga" not in answered("hay algo que no tenga el mío", [FEES], "es")


@pytest.mark.parametrize("asked", ["what do I do", "I get error 429, what do I do", "whats the minimum to start"])
def test_what_somebody_does_is_no_term_to_explain(asked: str) -> None:
    assert requested_term(asked.lower()) == ""


def test_a_visitor_who_asks_for_the_uptime_gets_no_glossary() -> None:
    def otherwise(question: str) -> object:
        wish = Wish(Intent.UNKNOWN)
        return answer_otherwise(question, wish, (), (), ("explain_concept",), (), "en", None, "I do not know.")

    assert otherwise("what's the uptime") is None
    assert otherwise("what is a halving") is not None
    assert otherwise("what's the VIX") is not None


def test_whether_people_there_speak_a_language_is_told_by_the_site() -> None:
    office = passage("Camp", "Reception speaks English and French, 8:30 to 21:30.")
    assert "speaks English and French" in answered("do you speak french", [office], "en")


def test_several_are_asked_whether_they_are_persons() -> None:
    assert wish_in("sois una persona o un robot", (), trades=False).intent is Intent.ABILITIES


def test_a_thing_for_so_many_people_is_answered_by_what_tells_how_many() -> None:
    huts = passage("Casas", "En julio la estancia mínima en cabaña es de cuatro noches.", "es")
    assert is_unknown(answered("tenéis cabaña para 5", [huts], "es"))
