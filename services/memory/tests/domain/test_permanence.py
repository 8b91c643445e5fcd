"""How and where somebody is just now is nothing lasting; what lasts is kept in much the same words."""

from datetime import UTC, datetime

import pytest

from memory.domain.lesson import FinishedTurn, with_lesson
from memory.domain.remembered import Remembered, current_facts

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def facts_after(text: str) -> list[str]:
    return current_facts(with_lesson(Remembered(), FinishedTurn("t1", NOW, (text,), frozenset())).memory)


@pytest.mark.parametrize(
    "text",
    [
        "I'm hungry", "I'm a bit nervous today", "I'm on the bus right now", "i'm at the dentist right now, back later",
        "I'm in a meeting", "I'm driving right now", "I'm about to leave", "I've got a terrible cold", "my head hurts",
        "I just woke up", "I'm so done with this week right now", "I'm late for work", "I'm cooking dinner",
        "tengo hambre", "estoy muerto de sueño hoy", "estoy en el metro ahora", "estoy por entrar a una reunión",
        "me duele la cabeza", "estoy en la fila del banco", "estoy tomando un mate", "acabo de despertarme",
        "ahora mismo estoy en el trabajo", "estoy hasta arriba de trabajo hoy", "tengo un resfriado terrible",
        # Told with laughter.
        "lol i'm basically warren buffett", "jaja soy el lobo de wall street", "me encantaría jubilarme mañana jaja",
        # Past and over, or just going on: it names no matter, amount or date that would make it last.
        "I missed the opening bell this morning", "I slept badly last night", "I bought apple yesterday",
        "I had a terrible night", "My battery is about to die",
        "I've been waiting for an answer for five minutes", "My boss just walked in", "my coffee has gone cold",
        "I dropped my glasses", "my laptop keeps crashing", "my neighbour sold his car", "I've lost my keys",
        "hoy no he podido mirar nada", "me he quedado sin batería", "estoy que no puedo más con el tráfico",
        "he quedado para cenar", "I've read your last message twice",
        # How something or somebody is, and what is left of it.
        "my laptop is frozen", "my neighbour is mowing the lawn", "I'm out of milk", "me queda poca leche",
        "my kids are in bed", "my portfolio is down", "my positions are red",
        "tengo el coche en el taller", "tengo la pantalla rota", "mi mujer está en la ducha", "mi hijo está con fiebre",
        "my father was angry", "my husband was a little upset", "my brother went to the shop", "my wife cooked dinner",
        "mi mujer estaba cansada", "mi hija estaba jugando fuera", "mi hermano vino a cenar", "mi hijo tuvo fiebre",
        "mis hijos fueron al parque",
        # An order for the moment.
        "no quiero problemas",
        "don't call me that", "no me mandes eso", "don't send me anything today", "no me llames ahora",
        # What a paper or another person says.
        "De: Luis\nPara: mí\nAsunto: hola\n\nVivo en Sevilla", "search for what I said about my two lockers",
        "El periódico pone: tengo un castillo en Fife", "The headline reads: I own a castle in Fife",
        "mi hermano me dijo: vivo en Quito", "My broker wrote yesterday: I manage 3 million",
        "ando en el coche", "I'm at my desk now", "hoy cuido a mi sobrino", "hoy no puedo",
        # Of the chat itself.
        "we talked about your fees earlier", "I told you about this", "ya hablamos de las comisiones antes",
        # A question without its mark, and what says nothing by itself.
        "sabes si me gustan los dividendos", "do you know if I like dividends", "I changed my mind", "cambié de idea",
    ],
)  # fmt: skip
def test_what_is_so_only_for_the_moment_is_not_kept(text: str) -> None:
    assert facts_after(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "mi hijo está en la universidad", "mi padre está sordo", "mi piso está en la costa", "my wife is studying law",
        "my savings are in bonds", "my portfolio is mostly tech", "estoy en contra de las criptomonedas",
        "my house is rented", "my daughter is studying medicine", "I'm out of work", "my hobby is fishing",
        "tengo la doble nacionalidad", "tengo el dinero en un fondo", "mi piso está alquilado",
        "mi padre está jubilado",
        "I'm at Google now", "I'm retired now", "I'm currently unemployed", "I'm on a fixed income", "I'm in debt",
        "I'm nervous about leverage", "I'm busy on Mondays", "I'm at home with the kids most days", "I'm in the army",
        "I'm on a diet since January", "haha I'm a nurse", "hablamos español en casa",
        "I have chronic back pain", "ahora estoy jubilado",
        "siempre tengo frío", "estoy en el paro", "tengo fiebre del heno", "estoy en casa con los niños cada mañana",
        "hoy cumplo 40 años", "I only check prices on Sundays",
        "me quedé sin trabajo en septiembre", "me quedé viudo el año pasado",
        "I lost a lot with options in 2020", "I'm retiring in March", "my wife handles all our taxes",
        "Mi padre se mudó a Vigo", "My wife found a job", "I left the pharmacy and started as a teacher",
        "my granddaughter plays chess", "I was born in Lima", "I'm moving to Leeds", "mi abuelo me dejó una finca",
        "I'll be a structural engineer at Pontis", "seré profesora en Lugo",
        # Where relatives came from, and what they did, although it is past.
        "my father was a baker", "my parents were teachers", "my grandmother came from Ireland", "my grandad ran a pub",
        "my mom was the first woman in her family to go to college", "my late husband was a surgeon",
        "my father-in-law owned a farm", "my parents met in Paris", "my sister-in-law used to be a lawyer",
        "mi abuelo fue minero", "mi abuela vino de Galicia", "mi madre nació en Lima", "mi padre tuvo una ferretería",
        "mi tía fue la primera ingeniera del pueblo", "mi abuelo luchó en la guerra civil", "mi hermana fue bailarina",
        "Suppose I live in Rome. Actually I live in Leeds", "I found a job at Nike", "I can follow a film in Czech",
        "No quiero tabacaleras", "no quiero empresas de armas",
        "estoy casada", "llevo diez años metido en bolsa", "I read the market news every Sunday",
        "please keep answers under five lines", "keep your replies to two sentences", "por favor respóndeme corto",
        "quiero respuestas de menos de 50 palabras",
    ],
)  # fmt: skip
def test_what_lasts_is_kept_though_it_is_told_in_much_the_same_words(text: str) -> None:
    assert len(facts_after(text)) == 1
