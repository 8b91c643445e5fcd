"""Which words of a site answer a question, and which questions it does not answer: three companies, es and en.

The pages are as fetch_page gives them: those of the demonstration, of a bakery and of a dental clinic.
"""

from pathlib import Path

import pytest

from agent.domain.offline.excerpts import SitePage
from agent.domain.offline.passages import answer_from_pages, introduction

FOLDER = Path(__file__).with_name("pages")


def pages(company: str) -> list[SitePage]:
    parts = (FOLDER / f"{company}.txt").read_text("utf-8").split("=== ")[1:]
    split = [part.split("\n", 1) for part in parts]
    return [SitePage(path, f"https://{company}.test{path}", path, text) for path, text in split]


SITES = {name: pages(name) for name in ("demo-en", "demo-es", "bakery", "clinic")}
ANSWERED: dict[str, dict[str, list[str]]] = {
    "demo-en": {
        "The Pro plan costs 29 USD": [
            "What does the Pro plan cost?",
            "how much is Pro?",
            "price of the Pro plan",
            "what is the yearly price of Pro?",
            "waht does the pro plan csot",
            "is Pro expensive?",
        ],
        "The Premium plan costs 99 USD": [
            "how much is premium?",
            "And the Premium plan?",
            "Premium plan cost per month",
        ],
        "free trial of 14 days": [
            "is there a free trial?",
            "can I try it for free?",
            "do I need a credit card?",
            "how long is the trial?",
        ],
        "we refund it in full": ["Can I get refunds?", "what is your refund policy?"],
        "Open Account, then Plan, then Cancel": ["How do I cancel?", "how can I cancel my plan?"],
        "change plan whenever you like": ["can I switch from Pro to Free?"],
        "The Premium plan costs 99 USD per month, or": ["how much does it cost?", "what are your prices?", "prices"],
        "9:00 to 18:00": ["opening hours?", "when are you open?", "what are your hours?", "opning hours"],
        "Create an account": ["how do I sign up?", "how can I register?", "where do I create an account?"],
        "Orders expire after 90 days": ["how long do orders last?", "when do orders expire?"],
        "Market, limit, stop and stop-limit": ["what order types do you support?", "which types of orders are there?"],
        "paper orders: they follow market data": ["Is this real trading?"],
        "An alert fires once": ["how do alerts work?"],
        "Everything in Pro": [
            "what is in the Premium plan?",
            "what's in the Premium plan?",
            "what does Premium include?",
            "difference between pro and premium?",
            "compare Pro vs Premium",
        ],
        "Talk to a person": ["How do I reach a person?"],
        "100,000 USD of paper money": ["how much paper money do I get?"],
    },
    "demo-es": {
        "El plan Free cuesta 0 USD": ["cuanto cuesta", "¿qué precios tenéis?"],
        "El plan Pro cuesta 29 USD": [
            "cuanto cuesta",
            "¿Cuánto cuesta el plan Pro?",
            "precio del plan pro",
            "cuanto questa el plan pro",
            "¿hay descuento si pago todo el año?",
            "tarifa de Pro",
        ],
        "prueba gratuita de 14 días": ["¿puedo probarlo gratis?", "¿hay prueba gratuita?", "¿necesito tarjeta?"],
        "Abre Cuenta, luego Plan y luego Cancelar": ["¿Cómo cancelo?", "como cancelo mi plan"],
        "te lo devolvemos entero": ["reembolsos", "¿hacéis devoluciones?", "como recupero mi dinero"],
        "de 9:00 a 18:00": ["¿cuál es el horario?", "¿a qué hora abrís?", "horario de atención"],
        "Crea una cuenta": ["ok, ¿cómo me registro?", "¿cómo abro una cuenta?", "¿cómo me doy de alta?"],
        "Las órdenes caducan a los 90 días": ["¿cuándo caducan las órdenes?", "¿cuánto duran las órdenes?"],
        "Todo lo del plan Pro": ["diferencia entre pro y premium", "¿qué incluye Premium?"],
        "Una alerta salta una sola vez": ["¿cómo funcionan las alertas?"],
    },
    "bakery": {
        "Saturday: Opens 8:00": ["when do you open on saturday?", "Saturday hours?"],
        "Sunday: closed": ["are you open on Sunday?", "are you open sundays?"],
        "Monday to Friday: Opens 7:00": [
            "what time do you close on Friday?",
            "opening hours",
            "when are you open on monday?",
        ],
        "We deliver within 5 miles for £4": ["do you deliver?", "how much is delivery?", "what does shipping cost?"],
        "free parking behind the shop": ["can I park there?", "is there parking?"],
        "12 Maple Lane": ["where are you?", "what is your address?", "where is the shop located?"],
        "pay by card or cash": ["do you take cards?", "can I pay with a credit card?"],
        "birthday cake three days ahead": ["how far ahead must I order a birthday cake?", "birthday cake order"],
        "the deposit is refunded": ["is the deposit refunded if I cancel?"],
        "All our breads contain gluten": ["is your bread gluten free?"],
        "Almond cake: Small £14, Large £22": [
            "how much is the almond cake?",
            "price of an almond cake",
            "almnd cake price",
        ],
        "Sourdough loaf: Small £3.50": ["what does a sourdough loaf cost?"],
        "Croissant: Small £2.10": ["what are your prices?", "how much is it?"],
        "Dogs are welcome": ["can I bring my dog?"],
    },
    "clinic": {
        "Abrimos de lunes a jueves de 9:30": ["¿qué horario tenéis?", "a que hora abren", "¿abrís los lunes?"],
        "Limpieza dental: Precio 55 €": [
            "¿cuánto cuesta una limpieza?",
            "precio limpieza dental",
            "limpiesa dental precio",
        ],
        "Ortodoncia invisible: Precio 2.900 €": ["¿cuánto vale la ortodoncia invisible?"],
        "Reserva tu cita": ["¿cómo pido cita?", "quiero reservar una cita"],
        "anular tu cita sin coste": ["¿puedo anular la cita?", "¿cómo cambio mi cita?"],
        "Calle Feria 20": ["¿dónde estáis?", "¿cuál es la dirección?"],
        "954 000 111": ["¿cuál es vuestro teléfono?", "¿cómo puedo llamaros?"],
        "Adeslas y Sanitas": ["¿trabajáis con Sanitas?", "¿qué seguros aceptáis?"],
        "pagar con tarjeta": ["¿se puede pagar con tarjeta?"],
        "La primera visita es gratuita": ["¿la primera visita es gratis?"],
    },
}
TRAPS: dict[str, list[str]] = {
    "demo-en": [
        "do you support options trading?",
        "Do you have an office in Lima?",
        "is there a student discount?",
        "do you have an app for iphone?",
        "who is the CEO?",
        "who will win the football match on Sunday?",
        "can I trade futures with leverage?",
        "do you accept bitcoin?",
        "is there an API for developers?",
    ],
    "demo-es": [
        "¿hay aplicación móvil?",
        "¿tenéis oficina en Madrid?",
        "¿aceptáis paypal?",
        "¿quién es el director?",
        "¿puedo operar con futuros?",
        "¿por qué el cielo es azul?",
        "¿dónde estáis?",
    ],
    "bakery": [
        "do you sell coffee?",
        "can I pay with bitcoin?",
        "do you bake vegan bread?",
        "do you have wifi?",
        "are you hiring?",
        "what does the Pro plan cost?",
    ],
    "clinic": [
        "¿hacéis implantes capilares?",
        "¿hay descuento para estudiantes?",
        "¿tenéis clínica en Madrid?",
        "¿cuánto cuesta un implante?",
        "¿vendéis cepillos?",
    ],
}


@pytest.mark.parametrize(
    ("company", "question", "words"),
    [
        (company, question, words)
        for company, answers in ANSWERED.items()
        for words, asked in answers.items()
        for question in asked
    ],
)
def test_the_sentence_or_row_that_answers(company: str, question: str, words: str) -> None:
    found = answer_from_pages(question, "", SITES[company])
    assert any(words in one.text for one in found), [one.text for one in found]


@pytest.mark.parametrize(("company", "question"), [(company, one) for company, all_ in TRAPS.items() for one in all_])
def test_what_the_site_does_not_tell_is_answered_by_none_of_it(company: str, question: str) -> None:
    assert answer_from_pages(question, "", SITES[company]) == []


@pytest.mark.parametrize(
    ("company", "before", "question", "words"),
    [
        ("demo-en", "What is in the Pro plan?", "and how much is it?", "The Pro plan costs 29"),
        ("demo-en", "What does the Pro plan cost?", "and premium?", "The Premium plan costs 99"),
        ("demo-es", "¿Cuánto cuesta el plan Pro?", "¿y el Premium?", "El plan Premium cuesta 99"),
        ("bakery", "do you have almond cake?", "how much is it?", "Almond cake: Small £14"),
        ("clinic", "¿hacéis ortodoncia invisible?", "¿y cuánto cuesta?", "Ortodoncia invisible"),
    ],
)
def test_a_question_that_leans_on_the_one_before_it(company: str, before: str, question: str, words: str) -> None:
    found = answer_from_pages(question, before, SITES[company])
    assert any(words in one.text for one in found), [one.text for one in found]


def test_what_a_site_is_is_how_its_first_page_begins() -> None:
    assert introduction(SITES["clinic"])[0].text == "Somos una clínica dental familiar en el centro de Sevilla."
